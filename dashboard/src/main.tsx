import './style/tokens.css';
import './style/base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { session } from './api/session.ts';
import { App } from './app/app.tsx';
import { Boundary } from './app/boundary.tsx';
import { GateBox } from './app/gate-box.tsx';
import { preload } from './app/pages.tsx';
import { language, preferredLanguage, speak } from './text/language.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no root');

void session.look();
preload(window.location.pathname);
await speak(preferredLanguage());
document.documentElement.lang = language;

createRoot(root).render(
  <StrictMode>
    <Boundary around={(told) => <GateBox>{told}</GateBox>}>
      <App />
    </Boundary>
  </StrictMode>,
);
