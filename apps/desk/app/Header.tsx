import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Form, Link, NavLink, useLocation, useNavigation, useSearchParams } from 'react-router';
import { Alert } from '#ui/Alert.tsx';
import { Button, buttonClass } from '#ui/Button.tsx';
import { inputClass } from '#ui/Field.tsx';
import { Icon } from '#ui/icons.tsx';
import { Bone } from '#ui/Skeleton.tsx';
import { Keys } from '../components/Keys.tsx';
import { useKey } from '../lib/keys.ts';
import { type Me, me } from '../lib/me.ts';
import { signOut } from '../lib/signOut.ts';
import { isTest, societyName } from '../lib/society.ts';
import styles from './Header.module.css';

/**
 * The header, the same on every page: the society, the search for people, the links to the pages, and the menu of the signed-in
 * member of staff.
 */
export function Header() {
  const who = me.use();
  const { state } = useNavigation();
  return (
    <header className={styles.header} data-busy={state !== 'idle' || undefined}>
      <div className={styles.bar}>
        <p className={styles.name}>
          <Link to="/">{societyName}</Link>
        </p>
        <Search isFirst={!who} />
        <nav className={styles.pages} aria-label="Pages">
          <NavLink to="/" end>
            Today
          </NavLink>
          <NavLink to="/transcripts">Transcripts</NavLink>
          <NavLink to="/parcels">Parcels</NavLink>
          <NavLink to="/invitations">Invitations</NavLink>
          <NavLink to="/numbers">Numbers</NavLink>
        </nav>
        {/* Two elements with different keys. One element for both would move when the name has loaded. */}
        {who ? (
          <div key="menu" className={styles.menu}>
            <Menu who={who} />
          </div>
        ) : (
          <div key="waiting" className={styles.menu}>
            <Bone />
          </div>
        )}
      </div>
      {isTest && <p className={styles.test}>Test data: no money moves.</p>}
    </header>
  );
}

/**
 * The text typed into the search field during the first load, and whether the field had the focus. Needed because the header is
 * mounted again when the first page has loaded.
 */
let typedBefore: { text: string; hadFocus: boolean } | null = null;

/**
 * The search field. On People it contains the text that was searched for. `isFirst`: the header is that of the first load, and
 * will be replaced.
 */
function Search({ isFirst }: { isFirst: boolean }) {
  const { pathname } = useLocation();
  const [query] = useSearchParams();
  const field = useRef<HTMLInputElement>(null);
  const text = pathname === '/people' ? (query.get('text') ?? '') : '';
  const shown = useRef(text);
  useEffect(() => {
    if (shown.current === text) return;
    shown.current = text;
    if (field.current) field.current.value = text;
  }, [text]);
  const [goes] = useState(isFirst);
  useLayoutEffect(() => {
    const input = field.current!;
    if (goes)
      return () => {
        typedBefore = { text: input.value, hadFocus: document.activeElement === input };
      };
    if (typedBefore?.text) input.value = typedBefore.text;
    if (typedBefore?.hadFocus) input.focus();
    typedBefore = null;
    return undefined;
  }, [goes]);
  const focus = useCallback(() => field.current?.select(), []);
  useKey('/', focus);
  return (
    <Form role="search" className={styles.search} action="/people">
      <label className="sr" htmlFor="search">
        Search people
      </label>
      <input
        ref={field}
        id="search"
        name="text"
        type="search"
        className={inputClass}
        defaultValue={text}
        placeholder="Search people"
        maxLength={200}
        autoComplete="off"
        autoCorrect="off"
        autoCapitalize="off"
        spellCheck={false}
        enterKeyHint="search"
        aria-keyshortcuts="/"
      />
    </Form>
  );
}

function Menu({ who }: { who: Me }) {
  const [isOpen, setOpen] = useState(false);
  const [showsKeys, setShowsKeys] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useKey(
    '?',
    useCallback(() => setShowsKeys(true), []),
  );
  useEffect(() => {
    if (!isOpen) return;
    const pressed = (event: Event) => {
      if (!menu.current?.contains(event.target as Node)) setOpen(false);
    };
    const typed = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    const listening = new AbortController();
    const { signal } = listening;
    for (const event of ['pointerdown', 'focusin']) document.addEventListener(event, pressed, { signal });
    document.addEventListener('keydown', typed, { signal });
    return () => listening.abort();
  }, [isOpen]);
  const leave = async () => setFault(await signOut({ everywhere: false }));
  return (
    <div ref={menu}>
      <button
        ref={button}
        type="button"
        className={styles.who}
        aria-expanded={isOpen}
        aria-controls="menu"
        onClick={() => setOpen(!isOpen)}
      >
        <span>{who.name}</span>
        <Icon name="chevron" size={16} />
      </button>
      <div id="menu" className={styles.items} hidden={!isOpen}>
        {fault && <Alert>{fault}</Alert>}
        <ul>
          <li>
            <Link to="/passkeys" className={buttonClass({ variant: 'quiet' })} onClick={() => setOpen(false)}>
              Passkeys
            </Link>
          </li>
          {who.role === 'owner' && (
            <li>
              <Link to="/staff" className={buttonClass({ variant: 'quiet' })} onClick={() => setOpen(false)}>
                Staff
              </Link>
            </li>
          )}
          <li>
            <Button
              variant="quiet"
              onClick={() => {
                // When the dialog closes, the focus returns to the element that had it. It must not be this button, which is
                // about to be hidden.
                button.current?.focus();
                setOpen(false);
                setShowsKeys(true);
              }}
            >
              Keys
            </Button>
          </li>
          <li>
            <Button variant="quiet" onClick={() => void leave()}>
              Sign out
            </Button>
          </li>
        </ul>
      </div>
      {showsKeys && <Keys onClose={() => setShowsKeys(false)} />}
    </div>
  );
}
