import type { ActionFunctionArgs, ShouldRevalidateFunctionArgs } from 'react-router';
import { fallback, NO_SESSION_FOR_MEMBERSHIP } from '#core/sentences.ts';
import { call, messageOf } from '../../lib/api.ts';
import { storedSession } from '../../lib/session.ts';
import type { OrderChange } from './orderChange.ts';

interface Changed {
  error: string | null;
  /** Set when there is no stored session. In that case the order on the screen does not change (specification, section 8). */
  noSession?: true;
}

const sentences: Record<OrderChange['kind'], string> = {
  addDonation: fallback.setDonation,
  addCustomDonation: fallback.setCustomDonation,
  addProduct: fallback.addProduct,
  removeDonation: fallback.deleteDonation,
  removeProduct: fallback.deleteStoreProduct,
};

/** Changes the order at the server. Afterwards the loader loads the order again. */
export async function action({ request }: ActionFunctionArgs): Promise<Changed> {
  const change = (await request.json()) as OrderChange;
  const uuid = storedSession();
  if (!uuid) {
    console.error(NO_SESSION_FOR_MEMBERSHIP);
    return { error: null, noSession: true };
  }
  try {
    switch (change.kind) {
      case 'addDonation':
      case 'addProduct':
        await call('setSessionProduct', { params: { uuid }, body: change.body });
        break;
      case 'addCustomDonation':
        await call('setCustomDonation', { params: { uuid }, body: change.body });
        break;
      case 'removeDonation':
      case 'removeProduct': {
        const { sessionProductUuid } = change;
        const { status } = await call('deleteSessionProduct', { params: { sessionProductUuid }, body: {} });
        if ((status as string) !== 'success') return { error: sentences[change.kind] };
      }
    }
    return { error: null };
  } catch (error) {
    return { error: messageOf(error, sentences[change.kind]) };
  }
}

export function shouldRevalidate({
  actionResult,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  return (actionResult as Changed | undefined)?.noSession ? false : defaultShouldRevalidate;
}
