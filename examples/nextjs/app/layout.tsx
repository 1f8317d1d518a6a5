import type { ReactNode } from 'react';

/** Next.js needs a layout; an application has one. */
export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
