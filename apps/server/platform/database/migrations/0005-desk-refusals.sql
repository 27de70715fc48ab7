-- What the desk lists by index: what HubSpot refuses.
create index crm_delivery_refused on crm_delivery (due_since) where refusal is not null;
create index document_refused on document (created_at) where crm_refusal is not null;
