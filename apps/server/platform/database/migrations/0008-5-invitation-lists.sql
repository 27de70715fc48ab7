-- What the desk lists by index. The changelog says how to build those of a million invitations before the upgrade.
create index if not exists invitation_by_day on invitation (created_at, code);
create index if not exists invitation_by_school on invitation (lower(school), created_at, code) where school is not null;
create index if not exists invitation_by_programme on invitation (programme, created_at, code) where programme is not null;
create index if not exists invitation_withdrawn on invitation (created_at, code) where is_withdrawn;
create index invitation_by_campaign on invitation (campaign, created_at, code) where campaign is not null;
