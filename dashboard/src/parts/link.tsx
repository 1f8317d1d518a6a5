import type { ComponentProps } from 'react';
import { Link as RouterLink } from 'wouter';
import { useEnvironment } from '../app/environment.ts';

/** A link within the half of the organization that is shown. @param to path of the live half */
export function Link({ to, ...props }: Omit<ComponentProps<'a'>, 'href'> & { to: string }) {
  const environment = useEnvironment();
  return <RouterLink {...props} href={environment.to(to)} />;
}
