-- How many invitations were made in each quarter of an hour, by what the desk tells them apart: the days of all time zones begin at one.
-- Only ever added to: whatever changes invitations adds in its own transaction what it changed, so nobody waits for a count and none is
-- lost. The sum counts.
create table invitation_count (
  made_at timestamptz not null,
  programme text,
  school text,
  campaign text,
  count integer not null
);
create index invitation_count_by_time on invitation_count (made_at);

create function quarter_of(timestamptz) returns timestamptz language sql immutable parallel safe as $$
  select date_bin('15 minutes', $1, 'epoch')
$$;

create function count_invitations() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into invitation_count
    select quarter_of(created_at), programme, school, campaign, count(*) from added group by 1, 2, 3, 4;
  elsif tg_op = 'DELETE' then
    insert into invitation_count
    select quarter_of(created_at), programme, school, campaign, -count(*) from removed group by 1, 2, 3, 4;
  else
    insert into invitation_count
    select quarter_of(created_at), programme, school, campaign, sum(number) from (
      select created_at, programme, school, campaign, 1 as number from added
      union all select created_at, programme, school, campaign, -1 from removed) changed
    group by 1, 2, 3, 4 having sum(number) <> 0;
  end if;
  return null;
end 
$$;
create trigger count_new_invitations after insert on invitation
  referencing new table as added for each statement execute function count_invitations();
create trigger count_changed_invitations after update on invitation
  referencing old table as removed new table as added for each statement execute function count_invitations();
create trigger count_removed_invitations after delete on invitation
  referencing old table as removed for each statement execute function count_invitations();

-- Adds what the counts lack. Changes nothing if they are right; servers may write meanwhile, since counts and invitations are of one moment.
create function recount_invitations() returns void language sql as $$
  insert into invitation_count
  select made_at, programme, school, campaign, sum(count) from (
    select quarter_of(created_at) as made_at, programme, school, campaign, count(*) as count from invitation group by 1, 2, 3, 4
    union all select made_at, programme, school, campaign, -sum(count) from invitation_count group by 1, 2, 3, 4) counted
  group by 1, 2, 3, 4 having sum(count) <> 0
$$;
