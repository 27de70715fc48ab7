-- The minimal server's tables: only what a membership sign-up needs.
create table contact (
  id uuid primary key default gen_random_uuid(), email text not null unique,
  first_name text, last_name text, member boolean not null default false, created_at timestamptz not null default now()
);
create table product (
  id int primary key, kind text not null, name text not null,
  price_cents int not null, active boolean not null default true
);
create table join_session (
  id uuid primary key default gen_random_uuid(), email text not null, contact_id uuid references contact (id),
  status text not null default 'started', first_name text, last_name text, phone text, dob date, address jsonb,
  membership_product_id int references product (id),
  created_at timestamptz not null default now(), updated_at timestamptz not null default now()
);
create table session_product (
  id bigserial primary key, session_id uuid not null references join_session (id),
  product_id int not null references product (id), qty int not null default 1, amount_cents int not null,
  unique (session_id, product_id)
);
create table payment (
  id bigserial primary key, session_id uuid not null unique references join_session (id),
  intent_id text not null, amount_cents int not null, status text not null,
  created_at timestamptz not null default now(), updated_at timestamptz not null default now()
);
insert into product (id, kind, name, price_cents) values
  (1, 'membership', 'Standard', 2500), (2, 'membership', 'Concession', 1000), (3, 'membership', 'Family', 4000),
  (4, 'donation', 'Donation', 500), (5, 'donation', 'Campaign fund', 1000);
insert into contact (email, first_name, last_name, member)
  select 'member' || n || '@example.org', 'First' || n, 'Last' || n, true from generate_series(1, 10000) n;
