import { randomUUID } from 'node:crypto';
import { REGION } from 'aws-local/arns.ts';
import type { Cloud, CloudOptions } from 'aws-local/cloud.ts';
import { freePort, holdPort } from 'aws-local/engines/free-port.ts';
import { UserError } from 'terminal/errors.ts';
import { PRIVATE, replaceFile } from 'terminal/files.ts';
import { formatDuration } from 'terminal/format.ts';
import { pathForShell, type Variables } from 'terminal/local-run/directory.ts';
import {
  type LocalEnvironment,
  readEnvironmentFile,
  writeEnvironmentFile,
} from 'terminal/local-run/environment-file.ts';
import type { Screen } from 'terminal/screen.ts';
import { type StopRequest, untilAborted } from 'terminal/stop-request.ts';
import { type Receiver, startReceiver } from '../../../packages/cli/src/receiver/receiver.ts';
import { ApiClient } from '../api-client.ts';
import { type CertificateFiles, ensureCertificates } from '../certificates/certificate-files.ts';
import { demonstrate } from './demonstration.ts';
import { readDemonstrationFile, writeDemonstrationFile } from './demonstration-file.ts';
import { openFunctionLog } from './function-log.ts';
import { type LocalDirectory, openLocalDirectory } from './local-directory.ts';
import { LOCAL_SERVICE } from './local-service.ts';
import { ensureOrganization, type Organization } from './organization.ts';
import { ensureSandbox, type OrganizationSandbox, provisionSandbox } from './organization-sandbox.ts';
import { type Sessions, settlePeople } from './people.ts';
import { listGivenTimes, readSettings, type Settings } from './settings.ts';
import { renderDemonstration, renderReady } from './start-view.ts';
import { contextOf, type synthesize } from './synthesis.ts';

const ENROL_OUTPUT = 'EnrolFunctionName';

/** Dependencies of the local run. */
export interface LocalRunParts {
  variables: Variables;
  cwd: string;
  screen: Screen;
  stop: StopRequest;
  synthesize: typeof synthesize;
  startCloud(options: CloudOptions): Promise<Cloud>;
  /** Time limit of the demonstrated delivery. */
  demonstrationTimeoutMs: number;
  /** Monotonic milliseconds. */
  now(): number;
}

/**
 * Starts the service on this machine, demonstrates it and runs until stopped. All its parts stop with it,
 * also after an error.
 * @throws UserError when it cannot start, or the demonstration fails
 */
export async function localRun(
  flags: { fresh: boolean; verbose: boolean },
  parts: LocalRunParts,
): Promise<void> {
  const { screen, stop, now } = parts;
  const settings = readSettings(parts.variables, parts.cwd);
  const sharedCompileCache = parts.variables.NODE_COMPILE_CACHE;
  let askedToStopAt = now();
  stop.signal.addEventListener('abort', () => {
    askedToStopAt = now();
  });
  {
    await using started = new AsyncDisposableStack();
    const directory = started.adopt(
      await openLocalDirectory(settings.directory, { shown: settings.directoryShown, fresh: flags.fresh }),
      (opened) => opened.release(),
    );
    const log = started.adopt(
      openFunctionLog(directory.logs, screen, { verbose: flags.verbose, now }),
      (opened) => opened.close(),
    );
    screen.print(`\n  ${screen.paint('bold', 'Conversation Service')}, local run\n`);

    const certificates = await ensureCertificates(directory.path, new Date());
    // The stack needs the dashboard's URL, so the port is held before the gateway starts.
    const port = settings.port === 0 ? await anyPort(directory) : settings.port;
    const releasePort = started.adopt(await holdPort(port), (release) => release());
    await screen.step(
      'Synthesize the stack',
      () =>
        parts.synthesize({
          assembly: directory.assembly,
          compileCache: sharedCompileCache ?? directory.compileCache,
          context: contextOf(settings, `http://localhost:${port}`),
          signal: stop.signal,
        }),
      (result) => (result === 'kept' ? screen.paint('dim', 'unchanged') : ''),
    );
    const cloud = started.adopt(
      await screen.step('Start the stack here', () =>
        parts.startCloud(
          cloudOptions(
            { ...settings, port, releasePort, compileCache: sharedCompileCache },
            directory,
            certificates,
            log.accept,
          ),
        ),
      ),
      (running) => running.stop(),
    );
    stop.onForce(() => {
      killAll(cloud.processIds());
      screen.print('  Stopped by force.');
    });
    stop.signal.throwIfAborted();

    await writeOutputs(cloud, directory.outputsFile);
    const sandbox = await makeReachable(cloud, directory, certificates, screen);
    stop.signal.throwIfAborted();
    const receiver = await showDemonstration(cloud, directory, certificates, parts).catch(
      (error: unknown) => {
        throw explainFailure(error, log.path);
      },
    );
    started.defer(() => receiver.stop());

    const place = {
      baseUrl: cloud.url,
      ...(cloud.siteUrl !== undefined && { dashboardUrl: cloud.siteUrl }),
      mailboxUrl: cloud.mailboxUrl,
      environmentFile: directory.environmentFile,
      logFile: log.path,
    };
    const sessions = cloud.identity !== undefined;
    const times = listGivenTimes(parts.variables);
    const shown = { ...place, cwd: parts.cwd, sessions, sandbox: sandbox !== undefined, times };
    screen.print(`\n${renderReady(shown, screen.paint)}\n`);
    await untilAborted(stop.signal);
  }
  const kept = pathForShell(settings.directory, parts.cwd);
  screen.print(`  Stopped in ${formatDuration(now() - askedToStopAt)}. The state stays in ${kept}.`);
}

/** Prefers the last run's port, so that URLs and the assembly stay the same. */
async function anyPort({ environmentFile }: LocalDirectory): Promise<number> {
  const earlier = await readEnvironmentFile(environmentFile);
  return freePort(earlier && Number(URL.parse(earlier.BASE_URL)?.port));
}

function cloudOptions(
  settings: Settings & Pick<CloudOptions, 'releasePort' | 'compileCache'>,
  directory: LocalDirectory,
  certificates: CertificateFiles,
  onLog: CloudOptions['onLog'],
): CloudOptions {
  return {
    assembly: directory.assembly,
    directory: directory.state,
    mailDirectory: directory.path,
    port: settings.port,
    releasePort: settings.releasePort,
    ...(settings.compileCache && { compileCache: settings.compileCache }),
    caFile: certificates.caFile,
    ...LOCAL_SERVICE,
    dynamodbEndpoint: settings.dynamodbEndpoint,
    sqsEndpoint: settings.sqsEndpoint,
    onLog,
  };
}

/** For `npm run operate -- --local`, which reads outputs as on AWS. */
async function writeOutputs({ outputs, endpoints }: Cloud, file: string): Promise<void> {
  await replaceFile(file, `${JSON.stringify({ region: REGION, endpoints, outputs }, null, 2)}\n`, PRIVATE);
}

/** Reuses an organization while the API accepts its key, else enrols one. */
function ensureLocalOrganization(cloud: Cloud, name: string, kept: Organization | undefined) {
  const enrolFunction = cloud.outputs[ENROL_OUTPUT];
  if (enrolFunction === undefined) throw new UserError(`The stack has no output ${ENROL_OUTPUT}.`);
  return ensureOrganization({
    name,
    kept,
    accepts: (apiKey) => new ApiClient(cloud.url, apiKey).acceptsKey(),
    enrol: (request) => cloud.invoke(enrolFunction, request),
  });
}

/**
 * Ensures an organization with a valid key, a sandbox and users, and writes them for shells.
 * @returns the sandbox
 */
async function makeReachable(
  cloud: Cloud,
  directory: LocalDirectory,
  certificates: CertificateFiles,
  screen: Screen,
): Promise<OrganizationSandbox | undefined> {
  const earlier = await readEnvironmentFile(directory.environmentFile);
  const { organization, isNew } = await screen.step(
    'Prepare an organization',
    () =>
      ensureLocalOrganization(
        cloud,
        'Local organization',
        earlier && { id: earlier.ORG_ID, apiKey: earlier.API_KEY },
      ),
    (result) => screen.paint('dim', `${result.organization.id}${result.isNew ? '' : ', kept'}`),
  );
  const sessions = cloud.identity && (await settlePeople(cloud.identity, organization.id));
  const sandbox = await prepareSandbox(cloud, sessions, isNew ? undefined : earlier, screen);
  await writeEnvironmentFile(directory.environmentFile, {
    BASE_URL: cloud.url,
    API_KEY: organization.apiKey,
    ORG_ID: organization.id,
    ...sessions,
    ...(sandbox && { SANDBOX_API_KEY: sandbox.apiKey, SANDBOX_ORG_ID: sandbox.id }),
    MAILBOX_URL: cloud.mailboxUrl,
    CA_FILE: certificates.caFile,
    RECEIVER_CERT_FILE: certificates.receiverCertFile,
    RECEIVER_KEY_FILE: certificates.receiverKeyFile,
  });
  return sandbox;
}

/**
 * @param sessions without an admin there is no sandbox
 * @param earlier written for this organization: another one's sandbox does not count
 */
async function prepareSandbox(
  cloud: Cloud,
  sessions: Sessions | undefined,
  earlier: LocalEnvironment | undefined,
  screen: Screen,
): Promise<OrganizationSandbox | undefined> {
  const adminToken = sessions?.ADMIN_TOKEN;
  if (adminToken === undefined) return undefined;
  const { SANDBOX_ORG_ID: id, SANDBOX_API_KEY: apiKey } = earlier ?? {};
  return screen.step(
    'Prepare its sandbox',
    () =>
      ensureSandbox({
        kept: id === undefined || apiKey === undefined ? undefined : { id, apiKey },
        accepts: (key) => new ApiClient(cloud.url, key).acceptsKey(),
        provision: () => provisionSandbox(cloud.url, adminToken),
      }),
    (result) => screen.paint('dim', `${result.id}${result.apiKey === apiKey ? ', kept' : ''}`),
  );
}

/**
 * Demonstrates in an organization of its own, so that the user's is empty and no backlog of it is waited for.
 * @returns the receiver, which answers as long as the run lasts
 */
async function showDemonstration(
  cloud: Cloud,
  { demonstrationFile }: LocalDirectory,
  certificates: CertificateFiles,
  { screen, stop, now, demonstrationTimeoutMs }: LocalRunParts,
): Promise<Receiver> {
  const kept = await readDemonstrationFile(demonstrationFile);
  const { seen, organization } = await screen.step(
    'Demonstrate a delivery',
    async () => {
      const { organization, isNew } = await ensureLocalOrganization(
        cloud,
        'Demonstration',
        kept?.organization,
      );
      const port = await freePort(kept?.port);
      const seen = await demonstrate({
        api: new ApiClient(cloud.url, organization.apiKey),
        kept: isNew ? undefined : kept,
        startReceiver: (options) => startReceiver({ ...certificates.receiver, ...options, port }),
        timeoutMs: demonstrationTimeoutMs,
        now,
        newIdempotencyKey: randomUUID,
        signal: stop.signal,
      });
      return { seen, organization };
    },
    (result) => (result.seen.arrival.kind === 'seen' ? '' : screen.paint('yellow', 'slow')),
  );
  screen.print(`\n${renderDemonstration(seen, screen.paint)}`);
  const { endpoint, receiver } = seen;
  await writeDemonstrationFile(demonstrationFile, { ...endpoint, port: receiver.port, organization });
  return receiver;
}

function explainFailure(error: unknown, logFile: string): unknown {
  if (!(error instanceof UserError)) return error;
  return new UserError(
    `The demonstration failed, so the service does not work here:\n\n  ${error.message}\n\n  The functions' log: ${logFile}`,
    { cause: error },
  );
}

function killAll(processIds: readonly number[]): void {
  for (const processId of processIds) {
    try {
      process.kill(processId, 'SIGKILL');
    } catch {
      // It ended by itself meanwhile.
    }
  }
}
