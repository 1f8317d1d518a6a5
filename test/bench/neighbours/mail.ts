import { setTimeout as sleep } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import { mapConcurrently } from '../../../functions/aws/concurrency.ts';
import type { ReceivedMail } from '../../support/mails.ts';
import { openLoop } from '../measure/open-loop.ts';
import { PATHS } from './path-server.ts';
import { AT_ONCE, HONEST, type Place } from './place.ts';
import type { Scenario } from './scenario.ts';

/** Deliveries in a row that disable an endpoint. */
const FAILURES = 10;
/** Endpoints of all honest organizations together that begin to fail. */
const DISABLED_PER_SECOND = 1;
/**
 * Sources that the hostile organization creates, checks again and deletes: more would use up the processors,
 * which no budget here divides.
 */
const CHANGES_PER_SECOND = 0.5;
/** At the beginning of a turn, not counted: functions that were idle before it start in this time. */
const SETTLING_SECONDS = 10;
const PATIENCE_MS = 90_000;
/** Until the changes of the last sources are reported. */
const AFTERWARDS_MS = 5_000;

/** Registers an endpoint that fails, sends it as many tests as disable it, and returns its id. */
async function failEndpoint({ honest, pathServer }: Place, number: number) {
  const tenant = honest[number % HONEST] as Place['hostile'];
  const url = pathServer.url(`${PATHS.failAtOnce}/${number}`);
  const { id } = await tenant.api.register(url, ['ticket.created']);
  await mapConcurrently([...Array(FAILURES).keys()], AT_ONCE, () =>
    tenant.api.post(`/api/v1/webhooks/${id}/test`),
  );
  return { tenant, id };
}

/**
 * When it was disabled.
 * @returns undefined when it was not in time
 */
async function disabledAt({ api }: Place['hostile'], id: string): Promise<number | undefined> {
  const arrived = until(
    'an endpoint to be disabled',
    async () => (await api.get(`/api/v1/webhooks/${id}`)).body.data?.disabledAt ?? undefined,
    PATIENCE_MS,
    1_000,
  );
  const at = await arrived.catch(() => undefined);
  return at === undefined ? undefined : Date.parse(String(at));
}

/** The e-mail about the disabling of an endpoint; a warning came before it. */
const mailFor = (mails: readonly ReceivedMail[], id: string): ReceivedMail | undefined =>
  mails.find(({ subject, text }) => subject.startsWith('Webhook endpoint disabled') && text.includes(id));

export const mail: Scenario = {
  name: 'mail',
  about: 'the end of an endpoint to the e-mail about it; the hostile organization has sources that change',
  scarce: `Batches of the mailer: 5 with 5 notices each, as in production, and the e-mails that the account may send, which the local run does not limit. The hostile organization creates ${CHANGES_PER_SECOND * 60} sources a minute, each with a URL of its own, requests another check of each when its page has changed, and deletes it. The e-mails that it causes are counted.`,
  context: { retryBaseSeconds: 0.1, retryCapSeconds: 0.1 },
  leadSeconds: 20,
  async prepare(place) {
    const { service, hostile, hostileClient, pathServer } = place;
    let number = 0;
    pathServer.setRecovered(false);
    const mailsToHostile = async () => {
      const mails = await service.mails();
      return mails.filter(({ to }) => to.some((address) => address.includes(hostile.orgId))).length;
    };
    return {
      async honestTurn(seconds) {
        const settling = SETTLING_SECONDS * DISABLED_PER_SECOND;
        const count = settling + Math.ceil(seconds * DISABLED_PER_SECOND);
        const failing = await openLoop({ perSecond: DISABLED_PER_SECOND, count }, async () => {
          const { tenant, id } = await failEndpoint(place, number++);
          return { tenant, id, at: await disabledAt(tenant, id) };
        });
        const ended = failing.map(({ result }) => result);
        const mails = await until(
          'the e-mails',
          async () => {
            const all = await service.mails();
            return ended.every(({ id, at }) => at === undefined || mailFor(all, id)) && all;
          },
          PATIENCE_MS,
          1_000,
        ).catch(() => service.mails());
        await mapConcurrently(ended, AT_ONCE, ({ tenant, id }) =>
          tenant.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` }),
        );
        const counted = ended.slice(settling);
        const samples = counted.flatMap(({ id, at }) => {
          const sent = mailFor(mails, id);
          return at === undefined || sent === undefined ? [] : [sent.at.getTime() - at];
        });
        return {
          samples: { 'disabled to e-mail': samples },
          calls: counted.length,
          refused: 0,
          missing: counted.length - samples.length,
        };
      },
      async startHostile() {
        const before = await mailsToHostile();
        const job = hostileClient.start({
          kind: 'changes',
          key: hostile.key,
          pages: pathServer.url(PATHS.changing),
          perSecond: CHANGES_PER_SECOND,
        });
        return {
          async stop() {
            job.stop();
            const { accepted, refused } = await job.result;
            await sleep(AFTERWARDS_MS);
            const mails = (await mailsToHostile()) - before;
            return `${accepted} calls accepted, ${refused} refused, ${mails} e-mails to its admins`;
          },
        };
      },
    };
  },
};
