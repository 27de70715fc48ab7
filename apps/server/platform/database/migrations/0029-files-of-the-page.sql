-- The files of the web app's builds, by their path below /static. While servers are replaced, a browser may get the page from one
-- server and ask the other one for its scripts. Servers therefore answer with a file of another build from here.
create table page_file (
  path text primary key,
  content bytea not null,
  -- When a server last started with a build that has the file.
  started_at timestamptz not null default now()
);
