import { useState } from 'react';
import { EVENT_TYPES } from '../../api/event-types.ts';
import { type SentType, useEndpoints, useSendExample } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Choose } from '../../parts/choose.tsx';
import { Code } from '../../parts/code.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Link } from '../../parts/link.tsx';
import { isNoSandbox, Loaded, NoSandbox } from '../../parts/loaded.tsx';
import { Marked } from '../../parts/marked.tsx';
import { Failure } from '../../parts/notice.tsx';
import { Card, Page, Table } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { EndpointName, EndpointStatus } from '../endpoint-name.tsx';
import { endpointOptions } from '../endpoint-options.ts';
import { Watched } from '../endpoints/test-sending.tsx';
import {
  type CataloguedType,
  ENTRIES,
  type FieldRow,
  fieldsOf,
  subscribersOf,
  targetsOf,
} from './catalogue.ts';
import { descriptionOf, fieldDescriptionOf } from './descriptions.ts';
import styles from './event-types.module.css';

export function EventTypePage({ type }: { type: CataloguedType }) {
  const { environment } = useEnvironment();
  const isAdmin = useIsAdmin();
  const [isSending, setSending] = useState(false);
  const { error } = useEndpoints(environment);
  const { example, sentTo } = ENTRIES[type];
  const canBeSent = sentTo !== 'channel';
  if (isNoSandbox(error)) return <NoSandbox title={t.eventTypes.title} />;
  return (
    <Page
      title={type}
      about={<Marked text={descriptionOf(type)} />}
      actions={
        canBeSent && isAdmin ? (
          <Button look="primary" onPress={() => setSending(true)}>
            {t.eventTypes.send}
          </Button>
        ) : null
      }
    >
      <p>
        <Link to="/event-types">{t.eventTypes.back}</Link>
      </p>
      {canBeSent && !isAdmin ? <p className="quiet">{t.eventTypes.sendMembers}</p> : null}
      <div className={styles.columns}>
        <Card title={t.eventLog.payload}>
          <Fields type={type} />
        </Card>
        <div className="stack">
          <Card title={t.eventTypes.example}>
            <Code text={JSON.stringify(example, undefined, 2)} label={t.eventTypes.payload} />
            <p className="quiet">{t.eventTypes.exampleAbout}</p>
          </Card>
          <Card title={t.eventTypes.receivers}>
            <Receivers type={type} />
          </Card>
        </div>
      </div>
      {isSending && type !== 'channel.message' && type !== 'channel.test' ? (
        <SendExample type={type} onClose={() => setSending(false)} />
      ) : null}
    </Page>
  );
}

function Receivers({ type }: { type: CataloguedType }) {
  const { environment } = useEnvironment();
  const query = useEndpoints(environment);
  if (type === 'webhook.test') return <p>{t.eventTypes.toTestedAbout}</p>;
  if (!EVENT_TYPES.some((each) => each === type)) return <p>{t.eventTypes.toChannelsAbout}</p>;
  return (
    <Loaded query={query} lines={2}>
      {(endpoints) => {
        const subscribed = subscribersOf(type, endpoints);
        return subscribed.length === 0 ? (
          <p>
            {t.eventTypes.noReceivers} <Link to="/endpoints">{t.endpoints.title}</Link>
          </p>
        ) : (
          <ul className={styles.receivers}>
            {subscribed.map((endpoint) => (
              <li key={endpoint.id}>
                <Link to={`/endpoints/${endpoint.id}`}>
                  <EndpointName id={endpoint.id} url={endpoint.url} />
                </Link>
                <EndpointStatus endpoint={endpoint} />
              </li>
            ))}
          </ul>
        );
      }}
    </Loaded>
  );
}

const Fields = ({ type }: { type: CataloguedType }) => (
  <Table label={t.eventLog.payload} isStacked columns={[t.common.field, t.common.type, t.common.description]}>
    {fieldsOf(ENTRIES[type].schema).map((row) => (
      <tr key={[...row.path, row.name].join('.')}>
        <th scope="row">
          <span className={styles.name}>
            <code>
              {row.path.map((name) => (
                <span key={name} className="quiet">
                  {name}.
                </span>
              ))}
              {row.name}
            </code>
            {row.isRequired ? null : <span className={styles.optional}>{t.eventTypes.optional}</span>}
          </span>
        </th>
        <td data-label={t.common.type}>
          <Type row={row} />
        </td>
        <td data-label={t.common.description}>
          <span>
            <Marked text={fieldDescriptionOf(type, row)} />
          </span>
        </td>
      </tr>
    ))}
  </Table>
);

const Type = ({ row: { type, values, prefix } }: { row: FieldRow }) => (
  <span className={styles.type}>
    {type}
    {prefix === undefined ? null : <code>{prefix}…</code>}
    {values?.map((value) => (
      <code key={value}>{value}</code>
    ))}
  </span>
);

function SendExample({ type, onClose }: { type: SentType; onClose: () => void }) {
  const { environment } = useEnvironment();
  const query = useEndpoints(environment);
  const targets = targetsOf(type, query.data ?? []);
  const [chosen, setChosen] = useState<string>();
  const { mutate, data, variables, error, isPending } = useSendExample(environment);
  const webhookId = chosen ?? targets[0]?.id;
  return (
    <Dialog title={t.eventTypes.sendTitle(type)} isOpen onClose={onClose}>
      <p className="quiet">{type === 'webhook.test' ? t.eventTypes.sendTestAbout : t.eventTypes.sendAbout}</p>
      <Loaded query={query} lines={2}>
        {() =>
          webhookId === undefined ? (
            <p>
              {t.eventTypes.noTargets} <Link to="/endpoints">{t.endpoints.title}</Link>
            </p>
          ) : (
            <Choose
              label={t.deliveries.endpoint}
              options={endpointOptions(targets, t.status)}
              value={webhookId}
              onChange={setChosen}
            />
          )
        }
      </Loaded>
      <Failure error={error} />
      {data === undefined || variables === undefined ? null : (
        <Watched
          key={data.deliveryId}
          webhookId={variables.webhookId}
          id={data.deliveryId}
          waiting={t.eventTypes.sending(type)}
        />
      )}
      <DialogActions>
        <Button onPress={onClose}>{t.close}</Button>
        {webhookId === undefined ? null : (
          <Button look="primary" isPending={isPending} onPress={() => mutate({ webhookId, type })}>
            {t.eventTypes.sendAction}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}
