-- Codes are made once for what the page says that it asks for, however often the button is pressed.
alter table invitation_import add column once uuid unique;
