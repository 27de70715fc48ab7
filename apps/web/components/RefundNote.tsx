import { Icon } from './screenIcons.tsx';
import ui from './ui.module.css';

/** The note about refunds beside a price. Nothing is shown without its text. */
export function RefundNote({ text, className = '' }: { text: string | undefined; className?: string }) {
  return (
    text && (
      <p className={`${ui.refund} ${className}`}>
        <Icon name="shield" size={18} />
        {text}
      </p>
    )
  );
}
