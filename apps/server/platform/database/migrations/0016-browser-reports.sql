-- What browsers blocked on our pages: a row for each kind, by the policy's directive and the origin that it names.
create table browser_report (
  directive text not null,
  blocked text not null,
  page text not null,
  count bigint not null default 1,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  primary key (directive, blocked)
);
