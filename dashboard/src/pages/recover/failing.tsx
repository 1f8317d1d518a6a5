import { useState } from 'react';
import type { Endpoint } from '../../api/webhooks.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';
import { SendAgain } from '../deliveries/bulk.tsx';
import { TestSending } from '../endpoints/test-sending.tsx';
import { FailuresInARow } from '../failures-in-a-row.tsx';
import { LastError, useFailure } from './what-happened.tsx';

/** An endpoint that fails and is not disabled: how far it is, and what to do before it is. */
export function FailingEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const isAdmin = useIsAdmin();
  const [isSending, setSending] = useState(false);
  const { lastError, code } = useFailure(endpoint);
  const since = endpoint.failing?.since ?? null;
  return (
    <>
      <Notice tone="warn" title={t.recover.failingTitle}>
        <p>
          <FailuresInARow endpoint={endpoint} />
        </p>
        <p>{t.recover.failingAbout}</p>
        <Facts
          facts={[
            lastError !== undefined && [
              t.common.lastError,
              <LastError key="error" text={lastError} code={code} />,
            ],
            since !== null && [t.recover.firstFailure, <Moment key="since" at={since} />],
          ]}
        />
      </Notice>
      <Card title={t.endpoints.test}>
        {isAdmin ? <TestSending webhookId={endpoint.id} /> : <p className="quiet">{t.admins}</p>}
      </Card>
      <Card title={t.bulk.title}>
        <div className="row">
          {isAdmin ? <Button onPress={() => setSending(true)}>{t.bulk.title}</Button> : null}
          <Link to={`/deliveries/${endpoint.id}?status=failed`} className={buttonLook('ordinary')}>
            {t.endpoints.allDeliveries}
          </Link>
        </div>
      </Card>
      {isSending ? <SendAgain endpoint={endpoint} onClose={() => setSending(false)} /> : null}
    </>
  );
}
