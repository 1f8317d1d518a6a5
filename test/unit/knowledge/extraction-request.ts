import { ExtractionRequest } from '../../../functions/knowledge/source-content.ts';

/** The request of the extraction of a live organization's source. */
export const anExtraction = (changes: Partial<ExtractionRequest> = {}): ExtractionRequest =>
  ExtractionRequest.parse({
    orgId: 'org_00000000000000000000000000000000',
    organization: { environment: 'live', tier: 'standard' },
    kind: 'url',
    url: 'https://www.example.com/prices',
    blockedHosts: [],
    ...changes,
  });
