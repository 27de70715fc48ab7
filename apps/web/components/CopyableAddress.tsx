import { Button } from '#ui/Button.tsx';
import { CopyByHand, useCopy } from '#ui/Copy.tsx';
import { Icon } from '#ui/icons.tsx';
import styles from './CopyableAddress.module.css';

/** A URL as a link, with a button that copies it. `label` is the button's text. */
export function CopyableAddress({ address, label = 'Copy address' }: { address: string; label?: string }) {
  const { outcome, copy } = useCopy();
  return (
    <div className={styles.address}>
      <a href={address}>{address}</a>
      <Button variant="quiet" onClick={() => void copy(address)}>
        <Icon name={outcome === 'copied' ? 'tick' : 'copy'} size={18} />
        <span>{outcome === 'copied' ? 'Copied' : label}</span>
      </Button>
      {outcome === 'failed' && <CopyByHand what="address" text={address} />}
    </div>
  );
}
