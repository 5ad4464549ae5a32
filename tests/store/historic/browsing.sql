BEGIN TRANSACTION;
CREATE TABLE alarms (
	alarm VARCHAR(64) NOT NULL, 
	identity TEXT NOT NULL, 
	open_identity TEXT, 
	kind VARCHAR(40) NOT NULL, 
	stage TEXT NOT NULL, 
	release TEXT NOT NULL, 
	summary TEXT NOT NULL, 
	run VARCHAR(64), 
	rollout VARCHAR(64), 
	details TEXT NOT NULL, 
	opened FLOAT NOT NULL, 
	last FLOAT NOT NULL, 
	repeats INTEGER NOT NULL, 
	resolved FLOAT, 
	resolved_by TEXT, 
	PRIMARY KEY (alarm), 
	UNIQUE (open_identity)
);
INSERT INTO "alarms" VALUES('a1','parity-fail/chat','parity-fail/chat','parity-fail','chat','chat-r8','2 of 40 failed','20260101-000000-abcdef','r1','{"n":1}',11.0,11.5,1,NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('browsing');
CREATE TABLE answers (
	run VARCHAR(64) NOT NULL, 
	case_index INTEGER NOT NULL, 
	side VARCHAR(16) NOT NULL, 
	repeat INTEGER NOT NULL, 
	streamed INTEGER NOT NULL, 
	max_tokens BIGINT NOT NULL, 
	answered FLOAT NOT NULL, 
	cache_key BLOB, 
	exchange TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (run, case_index, side, repeat, streamed)
);
INSERT INTO "answers" VALUES('20260101-000000-abcdef',0,'stage',0,0,64,5.5,X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F','{"status":200,"headers":[["content-type","application/json"]],"streamed":false,"fault":null,"attempts":[],"first_byte_s":0.1,"elapsed_s":0.2,"replica":null}',X'7B2261223A317D00FF');
INSERT INTO "answers" VALUES('20260101-000000-abcdef',1,'reference',1,1,1099511627776,5.6,NULL,'{"status":200,"headers":[["content-type","application/json"]],"streamed":false,"fault":null,"attempts":[],"first_byte_s":0.1,"elapsed_s":0.2,"replica":null}',X'');
CREATE TABLE decisions (
	rollout VARCHAR(64) NOT NULL, 
	seq INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	phase VARCHAR(40) NOT NULL, 
	event TEXT NOT NULL, 
	rule TEXT NOT NULL, 
	text TEXT NOT NULL, 
	next_phase VARCHAR(40) NOT NULL, 
	actions TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (rollout, seq)
);
INSERT INTO "decisions" VALUES('r1',1,11.0,'parity','{"type":"parity-ended"}','parity-fail','2 of 40 failed: é','restoring','[{"type":"restore-weights","number":1}]','{"cases":["c1"]}');
CREATE TABLE deliveries (
	alarm VARCHAR(64) NOT NULL, 
	sink TEXT NOT NULL, 
	action VARCHAR(16) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	settings TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	attempts INTEGER NOT NULL, 
	last_error TEXT, 
	next_at FLOAT, 
	delivered FLOAT, 
	PRIMARY KEY (alarm, sink, action)
);
INSERT INTO "deliveries" VALUES('a1','pager','fire','waiting','{"routing-key-env":"PAGER"}',11.0,2,'HTTP 500',20.0,NULL);
CREATE TABLE firings (
	schedule TEXT NOT NULL, 
	slot FLOAT NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	at FLOAT NOT NULL, 
	verdict VARCHAR(20), 
	run VARCHAR(64), 
	document TEXT NOT NULL, 
	PRIMARY KEY (schedule, slot, kind)
);
INSERT INTO "firings" VALUES('nightly',100.0,'full',101.0,'pass','20260101-000000-abcdef','{"pass_rate":0.99}');
CREATE TABLE latches (
	proof VARCHAR(100) NOT NULL, 
	rollout VARCHAR(64) NOT NULL, 
	at FLOAT NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	run VARCHAR(64), 
	PRIMARY KEY (proof, rollout)
);
INSERT INTO "latches" VALUES('sha256:aa','r1',11.0,'parity-fail','20260101-000000-abcdef');
CREATE TABLE measures (
	measure VARCHAR(64) NOT NULL, 
	instrument VARCHAR(40) NOT NULL, 
	started FLOAT NOT NULL, 
	finished FLOAT, 
	state VARCHAR(16) NOT NULL, 
	settings TEXT NOT NULL, 
	notes TEXT NOT NULL, 
	document TEXT, 
	stage VARCHAR(64) DEFAULT '' NOT NULL, 
	verdict VARCHAR(20), 
	PRIMARY KEY (measure)
);
INSERT INTO "measures" VALUES('tokens-20260101-000000-abcdef','tokens',8.0,9.0,'finished','{"instrument":{},"stage":{"url":"http://stage.example/v1","model":"m","extra":{},"headers":null,"sampled":false},"reference":{"url":"http://reference.example/v1","model":null,"extra":{},"headers":null,"sampled":false}}','{}','{"schema":"denv.parity.tokens/1","verdict":"undecided"}','396b0627ee3675f2c41c8cacad18ff5ba76f4565d8b63892776da7a3603a9725','undecided');
CREATE TABLE meta (
	name VARCHAR(40) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('tried','x');
CREATE TABLE occasions (
	once TEXT NOT NULL, 
	alarm VARCHAR(64) NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (once)
);
INSERT INTO "occasions" VALUES('r1/1/parity-fail','a1',11.0);
CREATE TABLE overrides (
	number INTEGER NOT NULL, 
	proof VARCHAR(100) NOT NULL, 
	unused_proof VARCHAR(100), 
	"by" TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	at FLOAT NOT NULL, 
	used_by VARCHAR(64), 
	used_at FLOAT, 
	PRIMARY KEY (number), 
	UNIQUE (unused_proof)
);
INSERT INTO "overrides" VALUES(1,'sha256:aa','sha256:aa','ann','it was the network',12.5,NULL,NULL);
CREATE TABLE probes (
	measure VARCHAR(64) NOT NULL, 
	"key" BLOB NOT NULL, 
	side VARCHAR(16) NOT NULL, 
	answered FLOAT NOT NULL, 
	exchange TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (measure, "key")
);
INSERT INTO "probes" VALUES('tokens-20260101-000000-abcdef',X'0000000000000000000000000000000000000000000000000000000000000000','stage',8.5,'{"status":200,"headers":[["content-type","application/json"]],"streamed":false,"fault":null,"attempts":[],"first_byte_s":0.1,"elapsed_s":0.2,"replica":null}',X'7B7D');
CREATE TABLE publication_files (
	publication VARCHAR(32) NOT NULL, 
	name VARCHAR(40) NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (publication, name)
);
INSERT INTO "publication_files" VALUES('abababababababababababababababab','badge.svg',X'3C7376672F3E');
INSERT INTO "publication_files" VALUES('abababababababababababababababab','report.json',X'7B7DC3A9');
CREATE TABLE publications (
	publication VARCHAR(32) NOT NULL, 
	run VARCHAR(64) NOT NULL, 
	stage VARCHAR(64) NOT NULL, 
	created FLOAT NOT NULL, 
	expires FLOAT, 
	revoked FLOAT, 
	"indexed" INTEGER NOT NULL, 
	head TEXT NOT NULL, 
	PRIMARY KEY (publication)
);
INSERT INTO "publications" VALUES('abababababababababababababababab','20260101-000000-abcdef','396b0627ee3675f2c41c8cacad18ff5ba76f4565d8b63892776da7a3603a9725',20.0,NULL,NULL,1,'{"verdict":"fail","run":"20260101-000000-abcdef"}');
CREATE TABLE results (
	run VARCHAR(64) NOT NULL, 
	case_index INTEGER NOT NULL, 
	outcome VARCHAR(20) NOT NULL, 
	cause VARCHAR(20), 
	document TEXT NOT NULL, 
	PRIMARY KEY (run, case_index)
);
INSERT INTO "results" VALUES('20260101-000000-abcdef',0,'pass',NULL,'{"id":"c0","index":0,"check":"equals","kind":"exact","outcome":"pass","cause":null,"reason":"","warnings":[],"tags":["é"],"detail":{},"stage":null,"reference":null}');
INSERT INTO "results" VALUES('20260101-000000-abcdef',1,'fail','template','{"id":"c1","index":1,"check":"contains","kind":"exact","outcome":"fail","cause":"template","reason":"","warnings":[],"tags":["é"],"detail":{},"stage":null,"reference":null}');
INSERT INTO "results" VALUES('20260101-000000-abcdef',2,'reference-fail',NULL,'{"id":"c2","index":2,"check":"contains","kind":"exact","outcome":"reference-fail","cause":null,"reason":"","warnings":[],"tags":["é"],"detail":{},"stage":null,"reference":null}');
CREATE TABLE rollouts (
	rollout VARCHAR(64) NOT NULL, 
	stage TEXT NOT NULL, 
	active_stage TEXT, 
	release TEXT NOT NULL, 
	proof VARCHAR(100) NOT NULL, 
	started FLOAT NOT NULL, 
	ended FLOAT, 
	phase VARCHAR(40) NOT NULL, 
	seq INTEGER NOT NULL, 
	"plan" TEXT NOT NULL, 
	state TEXT NOT NULL, 
	PRIMARY KEY (rollout), 
	UNIQUE (active_stage)
);
INSERT INTO "rollouts" VALUES('r1','chat',NULL,'chat-r8','sha256:aa',10.0,12.0,'rolled-back',1,'{"batches":[0.1,1]}','{"phase":"rolled-back"}');
INSERT INTO "rollouts" VALUES('r2','chat','chat','chat-r9','sha256:bb',13.0,NULL,'pending',0,'{"batches":[1]}','{"phase":"pending"}');
CREATE TABLE run_log (
	number INTEGER NOT NULL, 
	run VARCHAR(64) NOT NULL, 
	finished FLOAT NOT NULL, 
	suite VARCHAR(64) NOT NULL, 
	stage VARCHAR(64) NOT NULL, 
	verdict VARCHAR(20) NOT NULL, 
	report VARCHAR(64) NOT NULL, 
	previous VARCHAR(64) NOT NULL, 
	entry VARCHAR(64) NOT NULL, 
	PRIMARY KEY (number)
);
INSERT INTO "run_log" VALUES(1,'20260101-000000-abcdef',6.5,'5555555555555555555555555555555555555555555555555555555555555555','396b0627ee3675f2c41c8cacad18ff5ba76f4565d8b63892776da7a3603a9725','fail','495a6016518d571b154c3258c05cbb58a4b15520a45bf0d8e9d2db12827825c0','0000000000000000000000000000000000000000000000000000000000000000','0d6271969bf9eda8980361e4096b9adc7848e5af50896bdb9165fd59086f320b');
CREATE TABLE runs (
	run VARCHAR(64) NOT NULL, 
	started FLOAT NOT NULL, 
	finished FLOAT, 
	state VARCHAR(16) NOT NULL, 
	settings TEXT NOT NULL, 
	notes TEXT NOT NULL, 
	head TEXT, 
	suite VARCHAR(64) DEFAULT '' NOT NULL, 
	stage VARCHAR(64) DEFAULT '' NOT NULL, 
	verdict VARCHAR(20), 
	PRIMARY KEY (run)
);
INSERT INTO "runs" VALUES('20260101-000000-abcdef',5.0,6.5,'finished','{"identity":{"suite":{"name":"core.jsonl","sha256":"5555555555555555555555555555555555555555555555555555555555555555","cases":3},"stage":{"url":"http://stage.example/v1","model":"m","extra":{},"headers":null,"sampled":false},"reference":{"url":"http://reference.example/v1","model":null,"extra":{},"headers":null,"sampled":false},"pass":{"exact":"19/20"},"release":"chat-r8","recipe":null},"options":{"suite":"core.jsonl"}}','{"stage":{"model":"m"},"reference":{"model":"found"}}','{"schema":"denv.parity.report/1","run":"20260101-000000-abcdef","verdict":"fail","reasons":["exact: 1 of 2 pass (50 %), below the threshold of 95 %"],"suite":{"name":"core.jsonl","sha256":"5555555555555555555555555555555555555555555555555555555555555555","cases":3},"kinds":{"exact":{"planned":3}},"text":"é \\ud800"}','5555555555555555555555555555555555555555555555555555555555555555','396b0627ee3675f2c41c8cacad18ff5ba76f4565d8b63892776da7a3603a9725','fail');
INSERT INTO "runs" VALUES('20260102-000000-000000',7.0,NULL,'running','{"identity":{"suite":{"name":"core.jsonl","sha256":"5555555555555555555555555555555555555555555555555555555555555555","cases":3},"stage":{"url":"http://stage.example/v1","model":"m","extra":{},"headers":null,"sampled":false},"reference":{"url":"http://reference.example/v1","model":null,"extra":{},"headers":null,"sampled":false},"pass":{"exact":"19/20"},"release":"chat-r8","recipe":null},"options":{}}','{}',NULL,'5555555555555555555555555555555555555555555555555555555555555555','396b0627ee3675f2c41c8cacad18ff5ba76f4565d8b63892776da7a3603a9725',NULL);
CREATE TABLE schedules (
	name TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	spec TEXT NOT NULL, 
	"plan" TEXT NOT NULL, 
	paused TEXT, 
	baseline VARCHAR(64), 
	detector TEXT NOT NULL, 
	last_slot FLOAT, 
	PRIMARY KEY (name)
);
INSERT INTO "schedules" VALUES('nightly',1.0,'{"cron":"0 3 * * *"}','{"release":"chat-r8"}','moving house','20260101-000000-abcdef','{"e":2.5}',100.0);
CREATE TABLE sessions (
	digest BLOB NOT NULL, 
	token VARCHAR(16) NOT NULL, 
	created FLOAT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (digest)
);
INSERT INTO "sessions" VALUES(X'0102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F20','t1t1t1t1t1t1t1t1',31.0,32.0);
CREATE TABLE stages (
	stage TEXT NOT NULL, 
	incumbent TEXT, 
	weights TEXT, 
	weighed FLOAT, 
	PRIMARY KEY (stage)
);
INSERT INTO "stages" VALUES('chat','{"release":"chat-r7","plan":{},"proof":"sha256:00","run":"run-0","since":1.0}','{"weights":{"a":1}}',4.0);
CREATE TABLE tokens (
	token VARCHAR(16) NOT NULL, 
	name TEXT NOT NULL, 
	role VARCHAR(8) NOT NULL, 
	digest BLOB NOT NULL, 
	created FLOAT NOT NULL, 
	expires FLOAT, 
	revoked FLOAT, 
	PRIMARY KEY (token)
);
INSERT INTO "tokens" VALUES('t1t1t1t1t1t1t1t1','ann','run',X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F',30.0,NULL,NULL);
CREATE INDEX runs_by_started ON runs (started);
CREATE INDEX runs_by_stage ON runs (stage, started);
CREATE INDEX runs_by_suite ON runs (suite, started);
CREATE INDEX answers_by_cache_key ON answers (cache_key, answered);
CREATE INDEX results_not_passed ON results (run, case_index, outcome, cause) WHERE outcome <> 'pass';
CREATE INDEX run_log_by_stage ON run_log (suite, stage);
CREATE INDEX run_log_by_run ON run_log (run);
CREATE INDEX publications_by_stage ON publications (stage);
CREATE INDEX sessions_by_token ON sessions (token);
CREATE INDEX measures_by_started ON measures (started);
CREATE INDEX rollouts_by_started ON rollouts (started);
CREATE INDEX ix_overrides_proof ON overrides (proof);
CREATE INDEX alarms_by_opened ON alarms (opened);
CREATE INDEX deliveries_by_state ON deliveries (state, created);
COMMIT;
