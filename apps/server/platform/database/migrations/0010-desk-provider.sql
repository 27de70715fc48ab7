-- Sign-in at the desk by the account at an identity provider (OpenID Connect).

-- The account of a member of staff, as the provider names it. Bound by a sign-in link; emails are never compared.
create table staff_identity (
  issuer text not null,
  subject text not null,
  staff_id bigint not null references staff,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index staff_identity_by_staff on staff_identity (staff_id);

-- A browser that is at the provider, by the hash of its state.
create table staff_turn (
  state_hash bytea primary key,
  nonce text not null,
  verifier text not null,
  -- The sign-in link that it came by, which binds the account.
  link_hash bytea,
  expires_at timestamptz not null
);
create index staff_turn_over on staff_turn (expires_at);
