import { NavLink } from 'react-router';
import styles from './Tabs.module.css';

/** The tabs of a page. Each tab has a URL. */
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

/** The class of a placeholder with the height of tabs, while the tabs are not known yet. */
export const tabsPlace = styles.tabs;
