-- Who nominated the invited person, word for word as the society's file of invitations says; null if it does not.
alter table invitation add column nominated_by text;
