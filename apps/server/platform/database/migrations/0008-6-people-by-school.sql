-- Whom the desk lists by the school that an import or HubSpot names.
create index if not exists person_by_school on person (lower(profile ->> 'schoolName')) where profile ->> 'schoolName' is not null;
