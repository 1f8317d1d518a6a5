import { notFound } from '../../http/problem.ts';
import { publicHandler } from './public-handler.ts';
import { loadFiles, PAGE, respondWith } from './resource.ts';

const files = loadFiles(new URL('./page/', import.meta.url));

/** Serves the API reference page and its files from the bundle. */
export const handler = publicHandler('docs', (event) => {
  const found = files.get(event.pathParameters?.file ?? PAGE);
  return found ? respondWith(found(), event) : notFound('page');
});
