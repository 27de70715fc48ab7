-- A member's number: one for each membership that was paid for, kept for good, also by one that has ended. Upgrades have none.
-- Eight characters of Crockford's Base32 (packages/core/memberNumber.ts), from a keyed hash of the payment: it says nothing, and a
-- payment that is settled again after a restore from a backup has the number that was printed.
insert into secret (name, value) values ('member numbers', gen_random_uuid()::text || gen_random_uuid()::text)
  on conflict do nothing;

alter table membership
  add member_number text,
  -- The member does not want it confirmed to others: docs/decisions/0036.
  add is_unlisted boolean not null default false;
create unique index membership_by_number on membership (member_number);

-- A number is 40 bits: one that is taken already leads to the next try.
create function free_member_number(payment_intent text) returns text language plpgsql as $$
declare
  alphabet constant text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  bits bigint;
  found_number text;
  attempt integer := 0;
begin
  loop
    bits := ('x' || left(encode(sha256(convert_to(
      (select value from secret where name = 'member numbers') || chr(10) || payment_intent || chr(10) || attempt, 'UTF8')), 'hex'), 10))::bit(40)::bigint;
    found_number := '';
    for place in 0..7 loop
      found_number := found_number || substr(alphabet, ((bits >> (5 * place)) & 31)::integer + 1, 1);
    end loop;
    exit when not exists (select from membership where member_number = found_number);
    attempt := attempt + 1;
  end loop;
  return found_number;
end $$;

-- One at a time: a statement does not see the numbers that it has given itself.
do $$
declare
  earlier record;
begin
  for earlier in select id, payment_intent from membership where type = 'membership' order by id loop
    update membership set member_number = free_member_number(earlier.payment_intent) where id = earlier.id;
  end loop;
end $$;

-- By the database, since servers of the version before write memberships too.
create function give_member_number() returns trigger language plpgsql as $$
begin
  new.member_number = free_member_number(new.payment_intent);
  return new;
end $$;
create trigger give_member_number before insert on membership for each row
  when (new.type = 'membership' and new.member_number is null) execute function give_member_number();
