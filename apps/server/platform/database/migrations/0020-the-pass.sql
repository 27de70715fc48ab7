-- What is kept of a join's pass, the link in its letters (apps/server/pass/). The link itself is nowhere: it is sealed with the
-- server's secret.
create table pass (
  session_uuid uuid primary key references join_session (uuid),
  -- Links that were made until then open nothing.
  revoked_at timestamptz,
  -- Wrong proofs since a code was last mailed, and wrong last names and ZIP codes since a code has last proven the joiner.
  tries integer not null default 0,
  name_tries integer not null default 0,
  -- Of the mailed code, keyed, and of the secret of the browser that asked for it.
  code_hash bytea,
  code_browser bytea,
  code_expires_at timestamptz,
  check ((code_hash is null) = (code_browser is null) and (code_hash is null) = (code_expires_at is null))
);

-- Who asked for the links of their joins. Looked up in the background, so that the answer takes as long for an unknown email.
create table pass_request (
  id uuid primary key default gen_random_uuid(),
  email text not null,
  created_at timestamptz not null default now()
);
