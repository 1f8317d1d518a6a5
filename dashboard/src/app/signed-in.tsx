import { useEffect, useState } from 'react';
import { ApiFailure } from '../api/failures.ts';
import { session } from '../api/session.ts';
import { Failure, Loading } from '../parts/notice.tsx';
import { useTexts } from '../text/language.ts';
import { GateBox } from './gate-box.tsx';

/** Where a sign-in in a window of its own returns to: other pages wait for it. */
export const CLOSE = '/signed-in?close';

/** A code is good for one exchange: what is under way is not begun again when React renders twice. */
let exchange: Promise<string> | undefined;

/** Where the issuer sends the browser back to, with a code or with what went wrong. */
export function SignedIn() {
  const t = useTexts();
  const [error, setError] = useState<unknown>();
  const [isClosing, setClosing] = useState(false);
  useEffect(() => {
    const parameters = new URLSearchParams(window.location.search);
    if (parameters.has('close')) {
      setClosing(true);
      window.close();
      return;
    }
    const [code, state] = [parameters.get('code'), parameters.get('state')];
    if (code === null || state === null) {
      const said = parameters.get('error_description') ?? parameters.get('error');
      setError(new ApiFailure(said ?? t.signIn.refused, { status: 400, type: 'SIGN_IN' }));
      return;
    }
    exchange ??= session.finishSignIn(code, state);
    exchange.then((returnTo) => window.location.replace(returnTo), setError);
  }, [t]);
  if (isClosing)
    return (
      <GateBox>
        <p role="status">{t.signIn.closeWindow}</p>
      </GateBox>
    );
  return (
    <GateBox>
      <h1>{error === undefined ? t.signIn.finishing : t.signIn.failed}</h1>
      {error === undefined ? <Loading lines={2} /> : <Failure title={t.signIn.failed} error={error} />}
      {error === undefined ? null : <a href="/">{t.signIn.again}</a>}
    </GateBox>
  );
}
