import { rm } from 'node:fs/promises';
import { temporaryDirectory } from '../../support/local-run.ts';
import { type Service, type ServiceOptions, startService } from '../../support/service.ts';
import { type SeenInvocation, watchInvocations } from '../requests/invocations.ts';
import { ending } from './interruption.ts';
import { lambdaNode, type NodeAdditions } from './lambda-node.ts';

/** The service in this process, its functions as on Lambda, and each of their invocations. */
export interface MeasuredService {
  service: Service;
  /** Program that the functions run in. */
  node: string;
  /** Invocations since the last call. */
  taken(): SeenInvocation[];
}

/**
 * @param context settings of the stack
 * @param additions to the program of the functions
 */
export async function withService<R>(
  use: (measured: MeasuredService) => Promise<R>,
  context: ServiceOptions['context'] = {},
  additions?: NodeAdditions,
): Promise<R> {
  const directory = await temporaryDirectory();
  const node = lambdaNode(directory.path, additions);
  const seen: SeenInvocation[] = [];
  const unwatch = watchInvocations((invocation) => seen.push(invocation));
  const end = async (service: Service) => {
    unwatch();
    await service.stop();
    await rm(directory.path, { recursive: true, force: true });
  };
  return ending(await startService({ nodeBinary: node, context }), end, (service) =>
    use({ service, node, taken: () => seen.splice(0) }),
  );
}
