import type { z } from 'zod';
import type { FieldRules } from '#core/crmFields.ts';
import type { catalogueProduct, programme, SocietyFile } from './schema.ts';

/** A programme: its audience and the texts of its pages. */
export type Programme = Omit<z.output<typeof programme>, 'processingFee'> & { processingFeeCents: number };

/** A product. Only the custom donation has no `priceCents`. */
export type CatalogueProduct = Omit<z.output<typeof catalogueProduct>, 'price' | 'floor'> & {
  priceCents?: number;
  /** The lowest price that a link may name. */
  floorCents?: number;
  sortOrder: number;
};

/** One society's words, programmes and catalogue, from its society.yaml. */
export interface Society extends Omit<SocietyFile, 'catalogue' | 'crm' | 'programmes' | 'donations'> {
  /** Which property of the CRM holds each field, and what a join may write there. */
  crm: { fields: FieldRules; attachDocuments: boolean };
  donations: { maximumCents: number };
  programmes: Record<string, Programme>;
  catalogue: CatalogueProduct[];
  defaultProgramme: string;
  product(id: number): CatalogueProduct | undefined;
  productByUuid(uuid: string): CatalogueProduct | undefined;
  programme(key: string): Programme;
  /** The memberships and the upgrade that a programme sells, in the file's order. */
  memberships(programme: string): CatalogueProduct[];
}
