-- Invitations from before the triggers.
select recount_invitations();
