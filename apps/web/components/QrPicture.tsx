import type { QrCode } from '../lib/qrCode.ts';
import styles from './QrPicture.module.css';

export function QrPicture({ code, label }: { code: QrCode; label: string }) {
  return (
    <svg
      className={styles.code}
      viewBox={`0 0 ${code.size} ${code.size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <path fill="#fff" d={`M0 0h${code.size}v${code.size}H0z`} />
      <path fill="#000" d={code.path} />
    </svg>
  );
}
