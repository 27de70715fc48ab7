import type { ActionFunctionArgs, ShouldRevalidateFunctionArgs } from 'react-router';
import { messageOf } from '#client/failures.ts';
import { fallback, NO_SESSION_FOR_MEMBERSHIP } from '#core/sentences.ts';
import { call } from '../../lib/api.ts';
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
    return { error: NO_SESSION_FOR_MEMBERSHIP, noSession: true };
  }
  const fallbackSentence = sentences[change.kind];
  const params = { uuid };
  try {
    if ('sessionProductUuid' in change) {
      const { sessionProductUuid } = change;
      await call('deleteSessionProduct', { params: { sessionProductUuid }, body: {} });
    } else if (change.kind === 'addCustomDonation')
      await call('setCustomDonation', { params, body: change.body });
    else await call('setSessionProduct', { params, body: change.body });
    return { error: null };
  } catch (error) {
    return { error: messageOf(error, fallbackSentence) };
  }
}

export function shouldRevalidate({
  actionResult,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  return (actionResult as Changed | undefined)?.noSession ? false : defaultShouldRevalidate;
}
