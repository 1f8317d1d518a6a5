import { type Resource, resource } from './resource.ts';

/** The document as a resource that pages of any origin may read. */
export const openApiResource = (document: string): Resource =>
  resource(document, 'application/json', {
    'Cache-Control': 'public, max-age=300',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'ETag, Request-Id',
  });
