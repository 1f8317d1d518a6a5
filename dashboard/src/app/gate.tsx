import { type ReactNode, useState } from 'react';
import { session } from '../api/session.ts';
import { Button } from '../parts/button.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Failure, Loading } from '../parts/notice.tsx';
import { t } from '../text/language.ts';
import { GateBox } from './gate-box.tsx';
import { useSessionState } from './person.ts';
import { CLOSE } from './signed-in.tsx';

/**
 * Shows the application to signed-in users. When a session ends, the page stays behind a dialog for signing
 * in again.
 */
export function Gate({ children }: { children: ReactNode }) {
  const state = useSessionState();
  if (state.kind === 'unknown' || state.kind === 'leaving')
    return (
      <GateBox>
        <Loading lines={3} />
      </GateBox>
    );
  if (state.kind === 'unreachable')
    return (
      <GateBox>
        <Failure error={state.error} onRetry={() => void session.look()} />
      </GateBox>
    );
  if (state.kind === 'none') return <SignIn />;
  return (
    <>
      {children}
      <SessionEnded isOpen={state.kind === 'ended'} email={state.person.email} />
    </>
  );
}

function SignIn() {
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const go = async () => {
    setPending(true);
    try {
      const { pathname, search } = window.location;
      window.location.assign(await session.signInAddress(`${pathname}${search}`));
    } catch (failure) {
      setError(failure);
      setPending(false);
    }
  };
  return (
    <GateBox>
      <h1>{t.signIn.title}</h1>
      <p className="quiet">{t.signIn.about}</p>
      <Failure error={error} />
      <Button look="primary" isPending={isPending} onPress={() => void go()}>
        {t.signIn.title}
      </Button>
    </GateBox>
  );
}

/** @param email whose session it was: the issuer is asked for the same person */
function SessionEnded({ isOpen, email }: { isOpen: boolean; email: string | null }) {
  const [step, setStep] = useState<'asked' | 'waiting' | 'blocked'>('asked');
  const [address, setAddress] = useState<string>();
  const [error, setError] = useState<unknown>();
  const go = async () => {
    setError(undefined);
    // Opened at once: browsers allow a window as the answer to a press, and not some time after it.
    const opened = window.open('', 'sign-in', 'popup,width=480,height=640');
    try {
      const location = await session.signInAddress(CLOSE, email ?? undefined);
      setAddress(location);
      if (opened) opened.location.assign(location);
      setStep(opened ? 'waiting' : 'blocked');
    } catch (failure) {
      opened?.close();
      setError(failure);
    }
  };
  return (
    <Dialog title={t.signIn.endedTitle} isOpen={isOpen}>
      <p>{t.signIn.ended}</p>
      {step === 'waiting' ? <p role="status">{t.signIn.waiting}</p> : null}
      {step === 'blocked' ? <p role="alert">{t.signIn.blocked}</p> : null}
      {step === 'blocked' && address !== undefined ? (
        <a href={address} target="_blank" rel="noreferrer">
          {t.signIn.open}
        </a>
      ) : null}
      <Failure error={error} />
      <DialogActions>
        <Button look="primary" onPress={() => void go()}>
          {t.signIn.window}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
