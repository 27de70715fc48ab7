import type { z } from 'zod';
import type { FieldRules } from '#core/crmFields.ts';
import type { catalogueProduct, programme, SocietyFile } from './schema.ts';

/** A programme, with the texts of its pages. */
export type Programme = Omit<z.output<typeof programme>, 'processingFee'> & { processingFeeCents: number };

/** A product of the catalogue. Only the custom donation lacks `priceCents`. */
export type CatalogueProduct = Omit<z.output<typeof catalogueProduct>, 'price' | 'floor'> & {
  priceCents?: number;
  /** The lowest price that a link may set (cents). */
  floorCents?: number;
  sortOrder: number;
};

/** A society's texts, programmes and catalogue, from its society.yaml. */
export interface Society extends Omit<SocietyFile, 'catalogue' | 'crm' | 'programmes' | 'donations'> {
  /** `fields`: which CRM property holds each field, and whether joins may write it. */
  crm: { fields: FieldRules; attachDocuments: boolean };
  donations: { maximumCents: number };
  programmes: Record<string, Programme>;
  /** All products of the file, including retired ones. */
  catalogue: CatalogueProduct[];
  /** The products that can be ordered. */
  offers: CatalogueProduct[];
  defaultProgramme: string;
  /** The keys of the programmes in which joins may begin. */
  openProgrammes: string[];
  /** Returns a product by its id, even a retired one, since an order may contain it. */
  product(id: number): CatalogueProduct | undefined;
  /** Returns a product that can be ordered. */
  offer(by: { id: number } | { uuid: string }): CatalogueProduct | undefined;
  /**
   * Returns a product that a link can sell: a product that can be ordered, except a membership of a retired programme, since such
   * a link would begin a join. An upgrade of a retired programme can still be sold to its members.
   */
  linkOffer(id: number): CatalogueProduct | undefined;
  /** Returns a programme; the default programme if the file no longer has it. */
  programme(key: string): Programme;
  /** Returns the memberships that {@link programme} offers, without its upgrades, in the order of the file. */
  memberships(programme: string): CatalogueProduct[];
}
