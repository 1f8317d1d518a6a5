import { useEffect, useState } from 'react';
import { ApiFailure } from '../api/failures.ts';
import { session } from '../api/session.ts';
import { Button } from '../parts/button.tsx';
import { Failure, Loading, Notice } from '../parts/notice.tsx';
import { t } from '../text/language.ts';
import { GateBox } from './gate-box.tsx';
import { useSignOut } from './person.ts';

/** Where a sign-in in a window of its own returns to: other pages wait for it. */
export const CLOSE = '/signed-in?close';

/** A code is valid once: the exchange is not repeated when React renders twice. */
let exchange: Promise<string> | undefined;

/** Where the issuer sends the browser back to, with a code or with what went wrong. */
export function SignedIn() {
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
      // Fixed text only: any site can make a URL with any text.
      const text = parameters.get('error') === 'access_denied' ? t.signIn.denied : t.signIn.refused;
      setError(new ApiFailure(text, { status: 400, type: 'SIGN_IN' }));
      return;
    }
    exchange ??= session.finishSignIn(code, state);
    exchange.then((returnTo) => window.location.replace(returnTo), setError);
  }, []);
  if (isClosing)
    return (
      <GateBox>
        <p role="status">{t.signIn.closeWindow}</p>
      </GateBox>
    );
  if (error === undefined)
    return (
      <GateBox>
        <h1>{t.signIn.finishing}</h1>
        <Loading lines={2} />
      </GateBox>
    );
  return (
    <GateBox>
      <h1>{t.signIn.failed}</h1>
      {error instanceof ApiFailure && error.status === 403 ? (
        <WrongAccount error={error} />
      ) : (
        <Failure title={t.signIn.failed} error={error} />
      )}
      <a href="/">{t.signIn.again}</a>
    </GateBox>
  );
}

/**
 * Who signs in again is known to the issuer, which would send the same account back: the way to another one
 * leads through its sign-out.
 */
function WrongAccount({ error }: { error: ApiFailure }) {
  const out = useSignOut();
  return (
    <>
      {error.type === 'NOT_KNOWN_HERE' ? (
        <Notice tone="bad" title={t.signIn.notKnown} />
      ) : (
        <Failure title={t.signIn.failed} error={error} />
      )}
      <Failure error={out.error} />
      <Button look="primary" isPending={out.isPending} onPress={() => void out.signOut()}>
        {t.signIn.otherAccount}
      </Button>
    </>
  );
}
