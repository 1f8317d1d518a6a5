import { useState } from 'react';
import { Link } from 'wouter';
import { type Sandbox, useProvision, useReset, useSandbox } from '../../api/organization.ts';
import { useIsAdmin, usePerson } from '../../app/person.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty, Notice } from '../../parts/notice.tsx';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { Ago, Moment } from '../../parts/time.tsx';
import { format, t } from '../../text/language.ts';
import { KeyDialog } from '../api-keys/key-form.tsx';
import { Receiver } from './receiver.tsx';

type Opened = 'make' | 'key' | 'reset';

/** The organization's sandbox: creation, keys, reset, and simulated receivers. */
export default function SandboxPage() {
  const isAdmin = useIsAdmin();
  // What is done stays open over a page that is another one by then.
  const [open, setOpen] = useState<Opened>();
  const close = () => setOpen(undefined);
  const query = useSandbox();
  return (
    <Page
      title={t.sandbox.title}
      about={t.sandbox.about}
      actions={
        query.data ? (
          <Link href="/sandbox/overview" className={buttonLook('ordinary')}>
            {t.sandbox.open}
          </Link>
        ) : null
      }
    >
      <Loaded query={query}>
        {(known) => (
          <>
            {known === null ? (
              <None isAdmin={isAdmin} onMake={() => setOpen('make')} />
            ) : (
              <Existing
                sandbox={known}
                isAdmin={isAdmin}
                onKey={() => setOpen('key')}
                onReset={() => setOpen('reset')}
              />
            )}
            <Receiver hasSandbox={known !== null} />
          </>
        )}
      </Loaded>
      {open === 'make' || open === 'key' ? <Provision isFirst={open === 'make'} onClose={close} /> : null}
      {open === 'reset' ? <Reset onClose={close} /> : null}
    </Page>
  );
}

const None = ({ isAdmin, onMake }: { isAdmin: boolean; onMake: () => void }) => (
  <Empty title={t.sandbox.whatTitle}>
    <p>{t.sandbox.what}</p>
    <p>{isAdmin ? t.sandbox.firstKey : t.sandbox.membersMake}</p>
    {isAdmin ? (
      <Button look="primary" onPress={onMake}>
        {t.sandbox.make}
      </Button>
    ) : null}
  </Empty>
);

function Existing({
  sandbox,
  isAdmin,
  onKey,
  onReset,
}: {
  sandbox: Sandbox;
  isAdmin: boolean;
  onKey: () => void;
  onReset: () => void;
}) {
  const { sandboxOrganizationId: id, createdAt, lastResetAt, purge } = sandbox;
  return (
    <Card title={t.sandbox.facts}>
      <Facts
        facts={[
          [t.common.id, <CopyId key="id" id={id} what={t.common.id} />],
          [t.common.created, <Moment key="created" at={createdAt} />],
          [t.sandbox.lastReset, lastResetAt === null ? t.keys.never : <Ago key="reset" at={lastResetAt} />],
        ]}
      />
      {purge === null ? null : (
        <Notice tone="busy" title={t.sandbox.purge}>
          <p>{t.sandbox.purgeAbout(format.number(purge.deleted))}</p>
        </Notice>
      )}
      {isAdmin ? (
        <div className="row">
          <Button onPress={onKey}>{t.sandbox.key}</Button>
          <Button look="danger" onPress={onReset}>
            {t.sandbox.reset}
          </Button>
        </div>
      ) : (
        <p className="quiet">{t.admins}</p>
      )}
    </Card>
  );
}

function Provision({ isFirst, onClose }: { isFirst: boolean; onClose: () => void }) {
  const provision = useProvision();
  return (
    <KeyDialog
      title={isFirst ? t.sandbox.makeTitle : t.sandbox.keyTitle}
      about={isFirst ? t.sandbox.firstKey : t.sandbox.keyAbout}
      action={isFirst ? t.sandbox.make : t.sandbox.keyAction}
      secret={provision.data?.key.secretOnce}
      sent={provision}
      onSubmit={(terms) => provision.mutate(terms)}
      onClose={onClose}
    />
  );
}

/** Deletes the data of the sandbox after the name of the organization was typed. */
function Reset({ onClose }: { onClose: () => void }) {
  const { organizationName } = usePerson();
  const sending = useReset();
  return (
    <Confirm
      title={t.sandbox.resetTitle}
      action={t.sandbox.resetAction}
      typed={organizationName}
      typedLabel={t.sandbox.resetTyped}
      sent={sending}
      onConfirm={() => sending.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{t.sandbox.resetWipes}</p>
      <p>{t.sandbox.resetKeeps}</p>
      <p>{t.sandbox.resetLive}</p>
    </Confirm>
  );
}
