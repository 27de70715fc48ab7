/** The icons that the first load needs. The others are in screenIcons.tsx. */
export const firstPaths = {
  alert: 'M12 8v5m0 3.200v.1M12 3 2.500 20h19z',
  phone:
    'M6 3.500h3l1.500 4-2 1.500a12 12 0 0 0 6 6l1.500-2 4 1.500v3c0 1-1 2-2 2C10.500 19.500 4.500 13 4 5.500c0-1 1-2 2-2z',
  tick: 'm5 12.500 4.500 4.500L19 7.500',
} as const;

interface Drawing {
  className?: string | undefined;
  /** In pixels. */
  size?: number;
}

/** A small line icon that is only decorative, since the text beside it says the same. */
export function Icon({ name, ...drawing }: Drawing & { name: keyof typeof firstPaths }) {
  return <LineDrawing path={firstPaths[name]} {...drawing} />;
}

export function LineDrawing({ path, className, size = 20 }: Drawing & { path: string }) {
  return (
    <svg
      className={className}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  );
}
