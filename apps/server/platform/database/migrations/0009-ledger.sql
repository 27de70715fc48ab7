-- What the desk has read of a month's transactions at Stripe, so that it can be taken again, and which server is reading it.
create table ledger_month (
  month date primary key check (extract(day from month) = 1),
  asked_by text not null,
  -- When the reading server last said that it reads, and how many transactions it has; null once it has ended.
  reading_at timestamptz,
  transactions integer not null default 0,
  -- Why it could not be read to the end.
  fault text,
  -- When it was last read to the end, what it sums to, and the file, line by line.
  read_at timestamptz,
  summary jsonb,
  file text
);
