/** A bucket's answers take their time. */
const AT_ONCE = 4;

/** Does the work for each item, a few at once. After a failure nothing more is begun, and it is thrown. */
export async function severalAtOnce<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  let hasFailed = false;
  const take = async () => {
    for (const item of left) {
      if (hasFailed) return;
      await work(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
}
