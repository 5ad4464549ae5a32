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
CREATE TABLE answers (
	run VARCHAR(64) NOT NULL, 
	case_index INTEGER NOT NULL, 
	side VARCHAR(16) NOT NULL, 
	repeat INTEGER NOT NULL, 
	streamed INTEGER NOT NULL, 
	max_tokens INTEGER NOT NULL, 
	answered FLOAT NOT NULL, 
	cache_key BLOB, 
	exchange TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (run, case_index, side, repeat, streamed)
);
INSERT INTO "answers" VALUES('20260101-000000-abcdef',0,'stage',0,0,64,5.5,NULL,'{"status":200,"headers":[["content-type","application/json"]],"streamed":false,"fault":null,"attempts":[],"first_byte_s":0.1,"elapsed_s":0.2,"replica":null}',X'7B2261223A317D');
CREATE TABLE decisions (
	rollout VARCHAR(64) NOT NULL, 
	seq INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	phase VARCHAR(40) NOT NULL, 
	event TEXT NOT NULL, 
	rule VARCHAR(100) NOT NULL, 
	text TEXT NOT NULL, 
	next_phase VARCHAR(40) NOT NULL, 
	actions TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (rollout, seq)
);
CREATE TABLE deliveries (
	alarm VARCHAR(64) NOT NULL, 
	sink VARCHAR(200) NOT NULL, 
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
CREATE TABLE firings (
	schedule VARCHAR(200) NOT NULL, 
	slot FLOAT NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	at FLOAT NOT NULL, 
	verdict VARCHAR(20), 
	run VARCHAR(64), 
	document TEXT NOT NULL, 
	PRIMARY KEY (schedule, slot, kind)
);
CREATE TABLE latches (
	proof VARCHAR(100) NOT NULL, 
	rollout VARCHAR(64) NOT NULL, 
	at FLOAT NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	run VARCHAR(64), 
	PRIMARY KEY (proof, rollout)
);
CREATE TABLE measures (
	measure VARCHAR(64) NOT NULL, 
	instrument VARCHAR(40) NOT NULL, 
	started FLOAT NOT NULL, 
	finished FLOAT, 
	state VARCHAR(16) NOT NULL, 
	settings TEXT NOT NULL, 
	notes TEXT NOT NULL, 
	document TEXT, 
	PRIMARY KEY (measure)
);
CREATE TABLE meta (
	name VARCHAR(40) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('schema_version','1');
CREATE TABLE occasions (
	once VARCHAR(200) NOT NULL, 
	alarm VARCHAR(64) NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (once)
);
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
CREATE TABLE probes (
	measure VARCHAR(64) NOT NULL, 
	"key" BLOB NOT NULL, 
	side VARCHAR(16) NOT NULL, 
	answered FLOAT NOT NULL, 
	exchange TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (measure, "key")
);
CREATE TABLE results (
	run VARCHAR(64) NOT NULL, 
	case_index INTEGER NOT NULL, 
	outcome VARCHAR(20) NOT NULL, 
	cause VARCHAR(20), 
	document TEXT NOT NULL, 
	PRIMARY KEY (run, case_index)
);
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
INSERT INTO "rollouts" VALUES('r1','chat','chat','chat-r8','sha256:aa',10.0,NULL,'pending',0,'{"p":1}','{"phase":"pending"}');
CREATE TABLE runs (
	run VARCHAR(64) NOT NULL, 
	started FLOAT NOT NULL, 
	finished FLOAT, 
	state VARCHAR(16) NOT NULL, 
	settings TEXT NOT NULL, 
	notes TEXT NOT NULL, 
	head TEXT, 
	PRIMARY KEY (run)
);
INSERT INTO "runs" VALUES('20260101-000000-abcdef',5.0,6.0,'finished','{"suite":"s"}','{}','{"verdict":"pass"}');
CREATE TABLE schedules (
	name VARCHAR(200) NOT NULL, 
	created FLOAT NOT NULL, 
	spec TEXT NOT NULL, 
	"plan" TEXT NOT NULL, 
	paused TEXT, 
	baseline VARCHAR(64), 
	detector TEXT NOT NULL, 
	last_slot FLOAT, 
	PRIMARY KEY (name)
);
CREATE TABLE stages (
	stage TEXT NOT NULL, 
	incumbent TEXT, 
	weights TEXT, 
	weighed FLOAT, 
	PRIMARY KEY (stage)
);
CREATE INDEX answers_by_cache_key ON answers (cache_key, answered);
CREATE INDEX rollouts_by_started ON rollouts (started);
CREATE INDEX ix_overrides_proof ON overrides (proof);
CREATE INDEX alarms_by_opened ON alarms (opened);
CREATE INDEX deliveries_by_state ON deliveries (state, created);
COMMIT;
