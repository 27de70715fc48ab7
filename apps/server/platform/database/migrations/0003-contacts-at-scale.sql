-- What the CRM still lets us ask, shared by all processes: a bucket of tokens for each kind of call.
create table crm_budget (
  name text primary key check (name in ('call', 'search')),
  tokens double precision not null,
  refilled_at timestamptz not null default now(),
  -- Told to wait (Retry-After), or given up for now after failures in a row.
  blocked_until timestamptz not null default '-infinity',
  failures integer not null default 0
);
insert into crm_budget (name, tokens) values ('call', 15), ('search', 1);

-- What the CRM had of each field when we last knew: as the form showed it, then as it was written. What the member left
-- as it was is not written, so that what staff wrote meanwhile stays.
alter table join_session add crm_known jsonb not null default '{}';

-- Where a sync of all contacts goes on: the page's cursor of the first run, later the time of the last change seen.
alter table schedule add cursor text;
