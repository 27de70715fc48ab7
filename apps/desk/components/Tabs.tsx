import { NavLink } from 'react-router';
import styles from './Tabs.module.css';

/** The tabs of a page. Each has an address. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly { to: string; name: string }[] }) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map(({ to, name }) => (
        <NavLink key={to} to={to} end preventScrollReset>
          {name}
        </NavLink>
      ))}
    </nav>
  );
}

/** What tabs that are not known yet will take. */
export const tabsPlace = styles.tabs;
