import { conflict, type ErrorDetail, invalid, invalidProperties, notFound, type Refusal } from './errors.ts';
import { DEFAULT_PROPERTIES, refusalOf, stored } from './properties.ts';
import type { Row, Store } from './store.ts';

/** A contact in the form in which the CRM returns it. */
export interface Contact {
  id: string;
  properties: Record<string, string | null>;
  createdAt: string;
  updatedAt: string;
  archived: boolean;
  archivedAt?: string;
}

/**
 * A validation rule on a property, which an administrator sets. Tests add rules to make the CRM refuse writes. There are three
 * kinds:
 *
 * - `pattern`: refuses a value that matches the regular expression.
 * - `required`: refuses a new contact without the property.
 * - `requiredWhen`: refuses any contact without the property while another property has the given value.
 *
 * HubSpot has the last two since 2026-09 (https://developers.hubspot.com/changelog/crm-api-write-validation-enforcement).
 */
export type Rule =
  | { property: string; pattern: string; message: string }
  | { property: string; required: true }
  | { property: string; requiredWhen: { property: string; value: string } };

/** Contacts and the operations on them. `now` is in ms since 1970. */
export class Contacts {
  readonly #store: Store;
  readonly rules: Rule[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Returns a contact with the properties that were requested, or with the default ones if none were. Unset properties are null;
   * unknown properties are left out.
   */
  view(row: Row, wanted: readonly string[] | undefined): Contact {
    const names = new Set([
      ...(wanted?.length ? wanted : DEFAULT_PROPERTIES),
      'createdate',
      'lastmodifieddate',
      'hs_object_id',
    ]);
    const known = [...names].filter((name) => this.#store.property(name)).sort();
    return {
      id: row.id,
      properties: Object.fromEntries(known.map((name) => [name, row.properties[name] ?? null])),
      createdAt: new Date(row.createdAt).toISOString(),
      updatedAt: new Date(row.updatedAt).toISOString(),
      archived: row.archived,
      ...(row.archived && { archivedAt: new Date(row.updatedAt).toISOString() }),
    };
  }

  /**
   * Finds a contact by its id. The id of a merged contact finds the contact into which it was merged. With `idProperty`, `id` is
   * the value of this unique property; for `email` it may also be one of the contact's additional emails. Finds only archived
   * contacts if `archived` is true, otherwise only contacts that are not archived.
   */
  find(id: string, idProperty = 'hs_object_id', archived = false): Row | undefined {
    if (idProperty !== 'hs_object_id' && !this.#store.property(idProperty)?.hasUniqueValue) {
      throw invalid(`Invalid idProperty ${idProperty}: it is not a unique property.`);
    }
    const row =
      idProperty === 'hs_object_id'
        ? this.#afterMerges(id)
        : this.#store.byUnique(idProperty, id.trim().toLowerCase());
    return row && row.archived === archived ? row : undefined;
  }

  /** Returns the contact with this id, or the contact that it was merged into. */
  #afterMerges(id: string): Row | undefined {
    const row = this.#store.byId(id);
    return row?.mergedInto === undefined ? row : this.#afterMerges(row.mergedInto);
  }

  /**
   * Merges two contacts into a new one. If both have a value of a property, the value of the contact `primaryId` is kept. Both
   * old ids lead to the new contact
   * (https://developers.hubspot.com/changelog/updated-merge-functionality-for-contacts-and-companies), and the other contact's
   * emails are additional emails of the new contact.
   */
  merge(primaryId: string, otherId: string, now: number): Row {
    const [primary, other] = [this.require(primaryId), this.require(otherId)];
    if (primary.id === other.id) throw invalid('A contact cannot be merged with itself.');
    const ids = [primary, other].flatMap(({ id, properties }) => [
      ...(properties.hs_merged_object_ids?.split(';') ?? []),
      id,
    ]);
    const properties = { ...other.properties, ...primary.properties };
    const emails = [primary, other].flatMap(({ properties: { email, hs_additional_emails: more } }) => [
      ...(email ? [email] : []),
      ...(more?.split(';') ?? []),
    ]);
    properties.hs_additional_emails = emails.filter((email) => email !== properties.email).join(';');
    const merged = this.#store.insert({ ...properties, hs_merged_object_ids: ids.join(';') }, now);
    for (const row of [primary, other])
      this.#store.save({ ...row, archived: true, mergedInto: merged.id }, now);
    return merged;
  }

  require(id: string, idProperty?: string, archived?: boolean): Row {
    const row = this.find(id, idProperty, archived);
    if (!row) throw notFound();
    return row;
  }

  create(given: Record<string, string>, now: number): Row {
    if (!given.email && !given.firstname && !given.lastname) {
      throw invalid('A contact needs at least one of email, firstname and lastname.');
    }
    const properties = this.#checked(given);
    this.#assertComplete(properties, true);
    this.#assertUnique(properties, undefined);
    return this.#store.insert(properties, now);
  }

  update(row: Row, given: Record<string, string>, now: number): Row {
    const properties = this.#checked(given);
    this.#assertComplete({ ...row.properties, ...properties }, false);
    this.#assertUnique(properties, row.id);
    return this.#store.save({ ...row, properties: { ...row.properties, ...properties } }, now);
  }

  archive(row: Row, now: number): void {
    this.#store.save({ ...row, archived: true }, now);
  }

  /**
   * Deletes a contact permanently (GDPR), even if it is archived. Also deletes the contacts that were merged into it, and the
   * notes that belong to no other contact.
   */
  erase(id: string): void {
    const row = this.#afterMerges(id);
    if (!row) throw notFound();
    this.#store.erase([row.id, ...(row.properties.hs_merged_object_ids?.split(';') ?? [])]);
  }

  /** Returns values as they are stored, or throws a 400 that lists every value that the CRM refuses. */
  #checked(given: Record<string, string>): Record<string, string> {
    const refusals: Refusal[] = [];
    const values: Record<string, string> = {};
    for (const [name, value] of Object.entries(given)) {
      const property = this.#store.property(name);
      const rule = this.rules.find(
        (one) => 'pattern' in one && one.property === name && new RegExp(one.pattern, 'u').test(value),
      );
      const refusal =
        refusalOf(property, name, value) ??
        (rule && 'pattern' in rule && { name, error: 'FAILED_VALIDATION_RULE', message: rule.message });
      if (refusal) refusals.push(refusal);
      else values[name] = stored(property!, value);
    }
    if (refusals.length > 0) throw invalidProperties(refusals);
    return values;
  }

  #assertComplete(properties: Record<string, string>, isNew: boolean): void {
    const missing = this.rules.flatMap((rule): ErrorDetail[] => {
      if (properties[rule.property]) return [];
      const context = { propertyName: [rule.property] };
      if ('required' in rule)
        return isNew
          ? [
              {
                message: `A value for ${rule.property} must be provided`,
                code: 'MISSING_REQUIRED_PROPERTY',
                context,
              },
            ]
          : [];
      if (!('requiredWhen' in rule) || properties[rule.requiredWhen.property] !== rule.requiredWhen.value)
        return [];
      return [
        {
          message: `${rule.property} is required because of a conditional property rule based on [${rule.requiredWhen.property}]`,
          code: 'MISSING_CONDITIONAL_REQUIRED_PROPERTY',
          context,
        },
      ];
    });
    if (missing.length > 0) throw invalid('The property values provided are invalid', missing);
  }

  #assertUnique(properties: Record<string, string>, self: string | undefined): void {
    for (const [name, value] of Object.entries(properties)) {
      if (value === '' || !this.#store.property(name)?.hasUniqueValue) continue;
      const other = this.#store.byUnique(name, value);
      if (other && other.id !== self && !other.archived) throw conflict(other.id);
    }
  }
}
