import { useEndpoints } from '../api/webhooks.ts';
import { useEnvironment } from '../app/environment.ts';
import { masked } from '../parts/masked.ts';
import { Url } from '../parts/url.tsx';

/** An endpoint by its description; by its URL without one, and while it is not known. */
export function EndpointName({ id, url }: { id: string; url: string }) {
  const description = useDescription(id);
  return description === undefined ? <Url url={url} /> : <bdi title={masked(url)}>{description}</bdi>;
}

/** The URL below a name that does not say it. */
export function EndpointUrl({ id, url }: { id: string; url: string }) {
  if (useDescription(id) === undefined) return null;
  return (
    <span className="quiet below">
      <Url url={url} />
    </span>
  );
}

function useDescription(id: string): string | undefined {
  const { environment } = useEnvironment();
  const { data } = useEndpoints(environment, false);
  return data?.find((endpoint) => endpoint.id === id)?.description ?? undefined;
}
