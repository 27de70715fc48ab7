import { screens } from '#core/navigation.ts';
import { Card } from '../components/Card.tsx';
import { Link } from '../components/Link.tsx';
import { PageHeading } from '../components/PageHeading.tsx';
import ui from '../components/ui.module.css';

export function Component() {
  return (
    <Card>
      <PageHeading title="Page not found" />
      <div className={ui.stack}>
        <p>There is no page at this address. Your join is safe: it goes on where you left it.</p>
        <Link className={ui.button} to={screens.studentDetails}>
          Continue your join
        </Link>
        <Link className={ui.plain} to={screens.getStarted}>
          Get Started
        </Link>
      </div>
    </Card>
  );
}
