import { gatewayHandler } from '../../http/lifecycle.ts';
import { refusals } from '../../http/problem.ts';
import { loadFiles, PAGE, respondWith } from './resource.ts';

const files = loadFiles(new URL('./page/', import.meta.url));

/** Serves the API reference page and its files from the bundle. */
export const handler = gatewayHandler({ name: 'docs' }, async (event) => {
  const load = files.get(event.pathParameters?.file ?? PAGE);
  return load ? respondWith(load(), event) : refusals.notFound('page');
});
