import type { Site } from '#contract/schemas.ts';
import { displayPrice, shortPrice, toDollars, toPrice } from '#core/money.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { changeOfMind } from '#core/refundRequest.ts';
import type { CatalogueProduct, Society } from './society.ts';
import { eligibilityOf, fillIn } from './texts.ts';

/** Returns the society's data for the pages: `site` of the contract. */
export function toSite(
  society: Society,
  rest: Pick<Site, 'payments' | 'uploadMaxBytes' | 'sendsLetters' | 'apiUrl'>,
): Site {
  const fill = (text: string, key = society.defaultProgramme) => fillIn(text, society, key);
  const { independence, deductibility } = society.society;
  return {
    society: {
      ...society.society,
      ...(society.letters.postalAddress && { postalAddress: society.letters.postalAddress }),
      ...(independence && { independence: fill(independence) }),
      ...(deductibility && { deductibility: fill(deductibility) }),
    },
    defaultProgramme: society.defaultProgramme,
    programmes: Object.fromEntries(
      society.openProgrammes.map((key) => {
        const { name, isTOLA, refund } = society.programme(key);
        const prices = society.memberships(key).map(({ priceCents }) => priceCents!);
        return [
          key,
          {
            name,
            isTOLA,
            eligibility: eligibilityOf(society, key),
            refund: fill(refund, key),
            membershipFrom: shortPrice(Math.min(...prices)),
          },
        ];
      }),
    ),
    getStarted: {
      lead: fill(society.pages.getStarted.lead),
      facts: society.pages.getStarted.facts,
    },
    ...(society.pages.hardship && { hardship: fill(society.pages.hardship) }),
    changeOfMind: changeOfMind(society.refunds),
    ...(society.store.delivery && { delivery: fill(society.store.delivery) }),
    questions: society.pages.questions.map(({ title, text }) => ({ title, text: fill(text) })),
    checkout: { ...society.pages.checkout, maximumDonation: toDollars(society.donations.maximumCents) },
    congratulations: {
      ...society.pages.congratulations,
      store: {
        title: society.store.title,
        text: fill(society.store.text),
        code: society.store.code,
        url: society.store.url,
        discountPercent: society.store.discountPercent,
      },
    },
    ...rest,
  };
}

/**
 * Returns a product in the wire format. `line` has the uuid and the stored price (cents) of an order line; without `line`, the
 * product's price is used.
 */
export function toWireProduct(
  product: Pick<
    CatalogueProduct,
    'id' | 'uuid' | 'type' | 'name' | 'priceCents' | 'description' | 'icon' | 'sortOrder'
  >,
  line: { uuid: string | null; priceCents: number } = { uuid: null, priceCents: product.priceCents ?? 0 },
) {
  return {
    sessionProductUuid: line.uuid,
    productId: product.id,
    id: product.id,
    uuid: product.uuid,
    name: product.name,
    price: toPrice(line.priceCents),
    displayPrice: displayPrice(line.priceCents),
    description: product.description,
    icon: product.icon,
    productType: product.type,
    sortOrder: product.sortOrder,
  };
}

/** Returns the origins (such as `https://pictures.example`) of the products' pictures that are on other sites. */
export function pictureOrigins({ catalogue }: Pick<Society, 'catalogue'>): string[] {
  const elsewhere = catalogue.filter(({ icon }) => icon.startsWith('https:'));
  return [...new Set(elsewhere.map(({ icon }) => new URL(icon).origin))];
}

/**
 * Returns an order line in the wire format, with the name and price (cents) of the day on which the line was added. If the
 * catalogue no longer has the product, the line has no description and icon. It is still shown, because everything that is
 * charged must be shown.
 */
export function toWireLine(society: Pick<Society, 'product'>, line: OrderLine & { uuid: string }) {
  const product = society.product(line.productId) ?? {
    id: line.productId,
    uuid: line.uuid,
    type: line.type,
    description: '',
    icon: '',
    sortOrder: line.productId,
  };
  return { ...toWireProduct({ ...product, name: line.name }, line), productType: line.type };
}
