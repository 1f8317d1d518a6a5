import { useState } from 'react';
import { Link } from 'wouter';
import { useSandbox } from '../../api/sandbox.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { Existing } from './existing.tsx';
import { Provision } from './provision.tsx';
import { Receiver } from './receiver.tsx';
import { Reset } from './reset.tsx';

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
