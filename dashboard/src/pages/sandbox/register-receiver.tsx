import { useState } from 'react';
import { Link } from 'wouter';
import { EVENT_TYPES } from '../../api/event-types.ts';
import { useRegister } from '../../api/webhooks.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/notice.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import { t } from '../../text/language.ts';

/** Registers an address in the sandbox, in one press, and shows the signing secret, once. */
export function RegisterReceiver({
  address,
  isPossible,
  hasSandbox,
}: {
  address: string;
  isPossible: boolean;
  hasSandbox: boolean;
}) {
  const isAdmin = useIsAdmin();
  const { mutate, data, isPending, error, reset } = useRegister('sandbox');
  const [lastId, setLastId] = useState<string>();
  if (!isAdmin) return <span className="quiet">{t.admins}</span>;
  const register = () => {
    mutate({ url: address, events: [...EVENT_TYPES] }, { onSuccess: ({ id }) => setLastId(id) });
  };
  return (
    <>
      <Button isDisabled={!isPossible} isPending={isPending} onPress={register}>
        {t.program.register}
      </Button>
      {lastId === undefined ? null : <Link href={`/sandbox/endpoints/${lastId}`}>{t.program.open}</Link>}
      <span className="quiet">{hasSandbox ? t.program.registerAbout : t.program.needsSandbox}</span>
      <Failure error={error} />
      {data ? (
        <Dialog title={t.endpoints.registeredTitle} isOpen isWide>
          <p>
            <code>{data.url}</code>
          </p>
          <p className="quiet">{t.endpoints.secretAbout}</p>
          <SecretOnce secret={data.secret} what={t.endpoints.secretLabel} onClose={reset} />
        </Dialog>
      ) : null}
    </>
  );
}
