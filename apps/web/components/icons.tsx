/** Small line icons, decorative: the words beside them say it. These are those of the first load; allIcons.tsx has the others. */
export const firstPaths = {
  alert: 'M12 8v5m0 3.200v.1M12 3 2.500 20h19z',
  phone:
    'M6 3.500h3l1.500 4-2 1.500a12 12 0 0 0 6 6l1.500-2 4 1.500v3c0 1-1 2-2 2C10.500 19.500 4.500 13 4 5.500c0-1 1-2 2-2z',
} as const;

interface Look {
  className?: string | undefined;
  size?: number;
}

export function Icon({ name, ...look }: Look & { name: keyof typeof firstPaths }) {
  return <Drawing path={firstPaths[name]} {...look} />;
}

export function Drawing({ path, className, size = 20 }: Look & { path: string }) {
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
