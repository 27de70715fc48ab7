import type { Product } from '#contract/schemas.ts';
import { fromPrice, shortPrice } from '#core/money.ts';
import { Button } from '#ui/Button.tsx';
import { Hint } from '#ui/Text.tsx';
import { ProductIcon } from '../../components/Purified.tsx';
import { useSite } from '../../lib/site.ts';
import { ChangeError } from './ChangeError.tsx';
import { useOrderChange } from './orderChange.ts';
import styles from './styles.module.css';

/**
 * The recommended products that are not in the order yet. With `showsDelivery`, also says when they are delivered and what
 * delivery costs.
 */
export function Recommended({ products, showsDelivery }: { products: Product[]; showsDelivery: boolean }) {
  const { delivery } = useSite();
  if (products.length === 0) return null;
  return (
    <section className={styles.block} aria-labelledby="recommended">
      <h2 id="recommended">Recommended for you</h2>
      <ul className={styles.recommended}>
        {products.map((product) => (
          <Item key={product.uuid} product={product} />
        ))}
      </ul>
      {showsDelivery && delivery && <Hint>{delivery}</Hint>}
    </section>
  );
}

function Item({ product }: { product: Product }) {
  const amount = fromPrice(product.price);
  const { busy, change, error } = useOrderChange(`product-${product.uuid}`);
  return (
    <li className={styles.item}>
      <ProductIcon className={styles.itemIcon} icon={product.icon} />
      <div className={styles.itemWords}>
        <h3>{product.name}</h3>
        <p>{product.description}</p>
      </div>
      <p className={styles.itemPrice}>{shortPrice(amount)}</p>
      <Button
        variant="second"
        slim
        className={styles.add}
        aria-label={`Add ${product.name}`}
        busy={busy && 'Adding…'}
        onClick={() => change({ kind: 'addProduct', body: { productUuid: product.uuid, amount } })}
      >
        Add
      </Button>
      <ChangeError error={error} />
    </li>
  );
}
