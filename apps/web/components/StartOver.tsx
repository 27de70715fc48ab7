import { useNavigate } from 'react-router';
import { forgetSession, startOver } from '../lib/session.ts';
import { Button } from './Button.tsx';

/**
 * A button that removes the stored session id and its drafts, and goes to the home page (specification, section 4). The home page
 * offers to undo it unless the join `isLost`.
 */
export function StartOver({ isLost = false }: { isLost?: boolean }) {
  const navigate = useNavigate();
  return (
    <Button
      variant="quiet"
      onClick={() => {
        if (isLost) forgetSession();
        // The window's location, since the router's still has the secret parameters of the payment return.
        else startOver(window.location.pathname + window.location.search);
        void navigate('/');
      }}
    >
      Start Over
    </Button>
  );
}
