"""`make deploy-check`: the images' steps and the services of docker-compose.yml in chroots, without a container engine,
and the systemd units in a Debian that boots.

    documented, chroot → image → composed → __main__
    documented, chroot → booted → __main__

What is read is what is deployed: Dockerfile, docker-compose.yml, .env.example, deploy/, and the commands of
docs/operations.md.
"""
